package analyse

import (
	"strings"

	"bottleneck/internal/model"
)

// isSynchronising says whether a runtime call always waits for the device.
func isSynchronising(name string) bool {
	switch {
	case strings.HasSuffix(name, "DeviceSynchronize"), strings.HasSuffix(name, "StreamSynchronize"), strings.HasSuffix(name, "EventSynchronize"),
		strings.HasSuffix(name, "CtxSynchronize"), strings.HasSuffix(name, "StreamSynchronize_ptsz"):
		return true
	}
	return false
}

// isBlockingCopy says whether a runtime call is a copy that returns only when the copy is done.
func isBlockingCopy(name string) bool {
	name, _, _ = strings.Cut(name, "_v")
	name = strings.TrimSuffix(name, "_ptds")
	switch name {
	case "cudaMemcpy", "hipMemcpy", "cudaMemcpy2D", "cudaMemcpyToSymbol", "cudaMemcpyFromSymbol", "hipMemcpyWithStream", "cuMemcpyDtoH", "cuMemcpyHtoD":
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

// isDataLoader recognises the annotation around a DataLoader's __next__.
func isDataLoader(name string) bool {
	return hasAnyPrefix(name, "enumerate(DataLoader)#", "enumerate(DataPipe)#")
}

// callClass is what a runtime call's name tells.
type callClass uint8

const (
	callUnseen callClass = iota
	callPlain
	callBlocks // waits for the device
	callCopies // waits for the device if its copy is of pageable memory
	callAllocates
)

// callClasses remembers the class of each name of a session.
type callClasses struct {
	texts *model.Strings
	known []callClass
}

func newCallClasses(s *model.Strings) *callClasses {
	return &callClasses{s, make([]callClass, s.Len())}
}

func (c *callClasses) of(name model.Str) callClass {
	if c.known[name] == callUnseen {
		c.known[name] = classifyCall(c.texts.Text(name))
	}
	return c.known[name]
}

func classifyCall(name string) callClass {
	switch {
	case isSynchronising(name), isBlockingCopy(name):
		return callBlocks
	case isAllocation(name):
		return callAllocates
	case strings.Contains(name, "Memcpy"):
		return callCopies
	}
	return callPlain
}

// blocks says whether a runtime call waited for the device: synchronising calls, blocking copies, and "asynchronous" copies
// whose pageable memory makes the driver wait.
func (w *deviceWork) blocks(id model.EventID) bool {
	ev := &w.trace.Events
	switch w.calls.of(ev.Name[id]) {
	case callBlocks:
		return true
	case callCopies:
		copied := ev.Link[id]
		return copied != model.NoEvent && ev.Kind[copied] == model.KindMemcpy && ev.End(id) >= ev.End(copied) &&
			strings.Contains(w.texts.Text(ev.Name[copied]), "Pageable")
	}
	return false
}
