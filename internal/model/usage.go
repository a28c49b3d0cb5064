package model

// Usage is what a process held at a moment, and what it had used until then since its start, as the kernel counts it. Memory is in bytes.
type Usage struct {
	At Time
	// Anonymous, File and Shared are resident: private memory, pages of files, and memory shared between processes (/dev/shm). Swapped is
	// private memory that is on a disk.
	Anonymous, File, Shared, Swapped int64
	// MinorFaults are pages that the kernel gave, MajorFaults those that it had to read first.
	MinorFaults, MajorFaults int64
	User, System             Dur   // CPU time
	Read, Written            int64 // bytes from and to disks; -1 unknown
	First                    *ThreadUse
}

// Owned is how much of a fork's memory was its own at a time, in bytes: Private pages that no other process had, and all of its pages
// divided by how many processes had each.
type Owned struct {
	At                    Time
	Private, Proportional int64
}

// InUse is what a program has of its allocators at the end of a step, read from inside. What is free in them, which the kernel counts as
// held, is told beside it.
type InUse struct {
	At     Time
	Bytes  int64 // of the C library's allocator; -1 unknown
	Blocks int64 // of Python's own, some ten to some hundred bytes each; -1 unknown
	Free   int64 // bytes that the C library's allocator has of the kernel and nobody uses; -1 unknown
}

// Pages is what the kernel had given a program by the end of a step, as that asked for itself: minor page faults since its start, and pages
// that are resident, each of the kernel's size.
type Pages struct {
	At               Time
	Faults, Resident int64
}

// ThreadUse is what the first thread of a process has used since its start; nil where it was not recorded.
type ThreadUse struct {
	MinorFaults   int64
	User, System  Dur
	Waits, Pushed int64 // times that it left its core: to wait for something, and because others were to have it
}

// Private is the memory that the process alone needs, swapped or not, in bytes.
func (u *Usage) Private() int64 { return u.Anonymous + u.Swapped }
