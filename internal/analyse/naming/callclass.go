package naming

import (
	"strings"

	"bottleneck/internal/model"
)

// WaitsForDevice says whether a call of the device's runtime, by its name, returns only when the device is done:
// synchronising calls and blocking copies.
func WaitsForDevice(call string) bool { return classifyCall(call) == CallBlocks }

// CopiesMemory says whether a call of the device's runtime copies memory without always waiting for it.
func CopiesMemory(call string) bool { return classifyCall(call) == CallCopies }

// AllocatesOnDevice says whether a call of the device's runtime allocates or frees device memory.
func AllocatesOnDevice(call string) bool { return classifyCall(call) == CallAllocates }

// IsStep recognises the annotation of a profiler's step.
func IsStep(annotation string) bool { return ClassifyEvent(annotation) == EventStep }

// IsPageable recognises a copy whose host memory is pageable, so that the driver waits for it.
func IsPageable(copyName string) bool { return strings.Contains(copyName, "Pageable") }

// CopyDirection tells a copy's direction by its name: "HtoD", "DtoH", "DtoD", …; "Memset" for sets, "" unknown.
func CopyDirection(name string) string {
	switch {
	case strings.HasPrefix(name, "Memset"):
		return "Memset"
	case strings.HasPrefix(name, "CopyHostToDevice"):
		return "HtoD"
	case strings.HasPrefix(name, "CopyDeviceToHost"):
		return "DtoH"
	case strings.HasPrefix(name, "CopyDeviceToDevice"):
		return "DtoD"
	}
	if fields := strings.Fields(name); len(fields) > 1 && fields[0] == "Memcpy" {
		return fields[1]
	}
	return ""
}

// isSynchronising says whether a runtime call always waits for the device.
func isSynchronising(name string) bool {
	switch {
	case strings.HasSuffix(name, "DeviceSynchronize"), strings.HasSuffix(name, "StreamSynchronize"),
		strings.HasSuffix(name, "EventSynchronize"), strings.HasSuffix(name, "CtxSynchronize"),
		strings.HasSuffix(name, "StreamSynchronize_ptsz"):
		return true
	}
	return false
}

// isBlockingCopy says whether a runtime call is a copy that returns only when the copy is done.
func isBlockingCopy(name string) bool {
	name, _, _ = strings.Cut(name, "_v")
	name = strings.TrimSuffix(name, "_ptds")
	switch name {
	case "cudaMemcpy", "hipMemcpy", "cudaMemcpy2D", "cudaMemcpyToSymbol", "cudaMemcpyFromSymbol", "hipMemcpyWithStream",
		"cuMemcpyDtoH", "cuMemcpyHtoD":
		return true
	}
	return false
}

// isAllocation says whether a runtime call allocates or frees device memory, which waits for the device as well.
func isAllocation(name string) bool {
	for _, word := range [...]string{"Malloc", "Free", "MemCreate", "MemMap", "MemUnmap", "MemRelease", "MemAddressReserve"} {
		if strings.Contains(name, word) && !strings.Contains(name, "Async") {
			return true
		}
	}
	return false
}

// IsDataLoader recognises the annotation around a DataLoader's __next__.
func IsDataLoader(name string) bool {
	return HasAnyPrefix(name, "enumerate(DataLoader)#", "enumerate(DataPipe)#")
}

// CallClass is what a runtime call's name tells.
type CallClass uint8

// Classes of runtime calls.
const (
	callUnseen CallClass = iota
	callPlain
	CallBlocks    // waits for the device
	CallCopies    // waits for the device if its copy is of pageable memory
	CallAllocates // waits for the device as well
	CallLaunches  // hands the device a kernel or a graph of them
)

// CallClasses remembers the class of each name of a session.
type CallClasses struct {
	texts *model.Strings
	known []CallClass
}

// NewCallClasses remembers the classes of one session's calls.
func NewCallClasses(s *model.Strings) *CallClasses {
	return &CallClasses{s, make([]CallClass, s.Len())}
}

// Of is the class of a call's name.
func (c *CallClasses) Of(name model.Str) CallClass {
	if c.known[name] == callUnseen {
		c.known[name] = classifyCall(c.texts.Text(name))
	}
	return c.known[name]
}

func classifyCall(name string) CallClass {
	switch {
	case isSynchronising(name), isBlockingCopy(name):
		return CallBlocks
	case isAllocation(name):
		return CallAllocates
	case strings.Contains(name, "Memcpy"):
		return CallCopies
	case strings.Contains(name, "Launch"):
		return CallLaunches
	}
	return callPlain
}
