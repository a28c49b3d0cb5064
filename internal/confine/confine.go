package confine

// Access is what a process may still do with files after Apply.
type Access struct {
	// Read are files, and folders with all beneath. What is missing is left out.
	Read []string
	// Anything lets every file be read.
	Anything bool
	// Write are folders in which files are made, written, replaced and removed, with all beneath, and devices and pipes that are
	// written. What is missing is left out.
	Write []string
}

// Enforcement is what the kernel can enforce.
type Enforcement struct {
	Files    bool // reading and writing, by Landlock (Linux 5.13)
	TCP      bool // the same for connections (Linux 6.7)
	Programs bool // starting programs, sockets and other processes' memory, by seccomp
}
