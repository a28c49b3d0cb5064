package account

import (
	"cmp"
	"regexp"
	"slices"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// attributeSamples gives every sample of the driving thread inside the windows a part and a weight. Samples inside an
// exact span share that span's part and its time; the others share the remaining time evenly.
func attributeSamples(b *Breakdown, cls *code.FrameClasses, lanes *exact) {
	sm := &b.Process.Samples
	n := min(sm.Len(), len(sm.Thread), len(sm.Stack), len(sm.State), len(sm.Flags))
	if n == 0 {
		return
	}
	lanes.cover = make([]bool, n)
	var inSpan [numParts]int
	free := 0
	b.foreign = foreignLines(b, cls)
	from, _ := slices.BinarySearchFunc(sm.Time[:n], b.Windows[0].Start, func(a, t model.Time) int { return cmp.Compare(a, t) })
	last := b.Windows[len(b.Windows)-1].End
	for i := from; i < n && sm.Time[i] < last; i++ {
		if int(sm.Thread[i]) != b.Thread || times.Within(b.Windows, sm.Time[i]) < 0 {
			continue
		}
		a := Attributed{Index: i}
		if part, ok := lanes.part(sm.Time[i]); ok {
			a.Part, a.Exact = part, true
			lanes.cover[i] = true
			inSpan[part]++
		} else {
			a.Part = b.PartOf(cls, i)
			free++
		}
		b.Samples = append(b.Samples, a)
	}
	rest := max(b.Total-b.Ahead-lanes.total(), 0)
	for k := range b.Samples {
		a := &b.Samples[k]
		if lanes.cover[a.Index] {
			a.Weight = lanes.time[a.Part] / float64(inSpan[a.Part])
		} else if free > 0 {
			a.Weight = rest / float64(free)
		}
	}
}

// line is a line of the user's code.
type line struct {
	file   model.Str
	number int32
}

// nativeLine is the line that called native code in which a thread computes at a sample, the zero line elsewhere: no frame of Python's says
// whose code it is.
func nativeLine(sm *model.Samples, cls *code.FrameClasses, i int) line {
	info := cls.Info(sm.Stack[i])
	if sm.State[i] != model.StateCPU || sm.Flags[i]&model.SampleRunsPython != 0 || !info.UserLeaf {
		return line{}
	}
	f := &cls.Stacks.Frames[info.User]
	return line{f.File, f.Line}
}

// Of samples of a line's native code in traced steps: how many tell whether it is PyTorch's, and how many of these may lie in operators
// where it is another library's. Between short operators of a line a third of them lie outside, rarely more.
const (
	foreignSamples = 8
	foreignInside  = 0.1
)

// foreignLines are the lines whose native code is another library's, as NumPy's: traced steps record no operators where it runs.
func foreignLines(b *Breakdown, cls *code.FrameClasses) map[line]bool {
	if b.Ops == nil || len(b.Ops.Slices) == 0 {
		return nil
	}
	sm := &b.Process.Samples
	all, inside := map[line]int{}, map[line]int{}
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack), len(sm.State), len(sm.Flags)) {
		if int(sm.Thread[i]) != b.Thread || times.Within(b.Ops.Slices, sm.Time[i]) < 0 {
			continue
		}
		at := nativeLine(sm, cls, i)
		all[at]++
		if _, in := b.Ops.SmallAt(sm.Time[i]); in {
			inside[at]++
		}
	}
	out := map[line]bool{}
	for at, n := range all {
		out[at] = at != line{} && n >= foreignSamples && float64(inside[at]) <= foreignInside*float64(n)
	}
	return out
}

// blockingCall matches source lines whose call waits on purpose.
var blockingCall = regexp.MustCompile(
	`\b(sleep|join|wait|acquire|result|get|recv|poll|select|communicate|check_output|check_call|run)\s*\(`)

// fileCall matches source lines that read or write files.
var fileCall = regexp.MustCompile(`\bopen\s*\(|\.(write|writelines|flush|read|readline|readlines|read_bytes|read_text|write_bytes|write_text|dump|to_csv|to_parquet|to_pickle|savez?|savez_compressed|savetxt|fromfile|tofile|imsave|savefig)\s*\(|\bfsync\s*\(|\bprint\s*\(|read_csv|read_parquet|np\.load|torch\.(save|load)|Image\.open|imread|logger?\.|logging\.`)

// writeCall matches source lines that hand data to a file, open or close one (a with statement's line closes it as well) or change its
// folder, whatever else they do.
var writeCall = regexp.MustCompile(`\bfsync\s*\(|\.(flush|write|writelines|write_bytes|write_text)\s*\(|\bos\.(replace|renames?|remove|unlink|link|symlink|makedirs?|mkdir|rmdir|removedirs|fdatasync|f?truncate|sync|pwritev?|sendfile|copy_file_range|posix_fallocate)\s*\(|^with\s+open\s*\(|=\s*open\s*\([^()]*\)$`)

// syncCall matches source lines that wait for the device.
var syncCall = regexp.MustCompile(
	`\.item\s*\(|\.cpu\s*\(|\.cuda\s*\(|\.tolist\s*\(|\.numpy\s*\(|synchronize\s*\(|nonzero\s*\(|(?:^|[^.\w])(?:print|float|int|bool)\s*\(|\.to\s*\(`)

// shapeCall matches those of them that ask for no number but how large an answer is.
var shapeCall = regexp.MustCompile(`nonzero\s*\(`)

// PartOf is partOfSample with what traced steps say of the line: native code of another library than PyTorch counts as Python.
func (b *Breakdown) PartOf(cls *code.FrameClasses, i int) PartID {
	part := partOfSample(b.Process, cls, i)
	if part == PartOps && b.foreign[nativeLine(&b.Process.Samples, cls, i)] {
		return PartPython
	}
	return part
}

// partOfSample decides what the driving thread did at a sample that no exact span explains.
func partOfSample(p *model.Process, cls *code.FrameClasses, i int) PartID {
	sm := &p.Samples
	info := cls.Info(sm.Stack[i])
	flags, state := sm.Flags[i], sm.State[i]
	switch {
	case flags&model.SampleGC != 0:
		return PartGC
	case info.Acts&code.ActCompile != 0:
		return PartCompile
	case state == model.StateGILWait:
		return PartGILWait
	case info.Acts&(code.ActLoader|code.ActWorkers) != 0:
		return PartDataWait
	case info.Acts&(code.ActServer|code.ActNetwork) == code.ActServer|code.ActNetwork && info.User < 0 &&
		(state == model.StateBlocked || state == model.StateIdle):
		return PartBlocked // a server's thread that waits for the next request of its connection
	case info.Imports:
		return PartImport // whatever the module's file is about, and though it is read from a disk
	case info.Acts&(code.ActCheckpoint|code.ActLogging|code.ActNetwork|code.ActFile) != 0:
		return PartIO
	case flags&model.SampleDiskWait != 0:
		return PartIO
	case info.Acts&code.ActImport != 0:
		return PartImport
	case info.Acts&code.ActQueue != 0 && info.Acts&code.ActTorch == 0 && info.Inner != code.FileFramework:
		return PartBlocked // also while it holds the interpreter's lock: it hands over, it does not work
	case state == model.StateBlocked || state == model.StateIdle:
		return partOfBlocked(p, cls, info, flags&model.SampleTimedSleep != 0)
	case flags&model.SampleRunsPython != 0:
		return PartPython
	case state == model.StateCPU && writeCall.MatchString(cls.LeafLine(info)):
		return PartIO // the kernel copies and flushes on the thread's own time
	case state == model.StateCPU && info.Acts&code.ActNumeric != 0:
		return PartPython // another library's native code: no operator
	case state == model.StateCPU:
		return PartOps // native code that has let go of the interpreter's lock
	case flags&model.SampleInProcess != 0:
		if info.Acts&code.ActTorch != 0 || info.Inner == code.FileFramework || flags&model.SampleInNative != 0 {
			return PartOps
		}
		return PartPython
	}
	return PartUnknown
}

// partOfBlocked tells why a thread sleeps, from its innermost frames and the text of the user's line; timed: the kernel says that it sleeps
// for a set time.
func partOfBlocked(p *model.Process, cls *code.FrameClasses, info code.StackInfo, timed bool) PartID {
	if info.Acts&code.ActCollective != 0 || info.Acts&code.ActBackward != 0 && p.WorldSize > 1 {
		return PartComm
	}
	if info.Acts&code.ActBackward != 0 {
		return PartOps // autograd's own threads work meanwhile
	}
	if info.Acts&code.ActQueue != 0 {
		return PartBlocked
	}
	text := cls.LeafLine(info)
	switch {
	case timed:
		return PartBlocked // a set time, whatever else stands on the line
	case fileCall.MatchString(text), writeCall.MatchString(text):
		return PartIO
	case blockingCall.MatchString(text), code.EntersLock(text):
		return PartBlocked
	case info.Acts&code.ActTorch != 0 || info.Inner == code.FileFramework || info.UserLeaf && p.Torch != "":
		if len(text) > 0 && syncCall.MatchString(text) && p.TimedOnDevice() {
			return PartSync
		}
		return PartOps // waits for its own intra-op threads
	}
	return PartBlocked
}

// AtSync says that the user's line of a sample reads like one that waits for the device.
func AtSync(cls *code.FrameClasses, info code.StackInfo) bool {
	return syncCall.MatchString(cls.LeafLine(info))
}

// Reads says that the user's line of a sample reads like one that waits for numbers of the device's.
func Reads(cls *code.FrameClasses, info code.StackInfo) bool {
	return syncCall.MatchString(shapeCall.ReplaceAllString(cls.LeafLine(info), ""))
}

// askingCall matches source lines whose operators ask the device how large their answer is: an index that may be a mask, and the like.
var askingCall = regexp.MustCompile(`\w\s*\[[^\]:]*\]|\b(?:nonzero|masked_select|argwhere|unique|unique_consecutive|bincount|repeat_interleave)\s*\(`)

// Asks says that the user's line of a sample reads like one that asks the device for an answer.
func Asks(cls *code.FrameClasses, info code.StackInfo) bool {
	text := cls.LeafLine(info)
	return syncCall.MatchString(text) || askingCall.MatchString(text)
}
