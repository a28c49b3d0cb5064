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

// blocks says whether a runtime call waited for the device: synchronising calls, blocking copies, and "asynchronous" copies
// whose pageable memory makes the driver wait.
func (w *deviceWork) blocks(name string, id model.EventID) bool {
	if isSynchronising(name) || isBlockingCopy(name) {
		return true
	}
	if !strings.Contains(name, "Memcpy") {
		return false
	}
	ev := &w.trace.Events
	copied := ev.Link[id]
	if copied == model.NoEvent || ev.Kind[copied] != model.KindMemcpy {
		return false
	}
	text := w.texts.Text(ev.Name[copied])
	return strings.Contains(text, "Pageable") && ev.End(id) >= ev.End(copied)
}
