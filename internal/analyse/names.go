package analyse

import "strings"

// WaitsForDevice says whether a call of the device's runtime, by its name, returns only when the device is done:
// synchronising calls and blocking copies.
func WaitsForDevice(call string) bool { return classifyCall(call) == callBlocks }

// CopiesMemory says whether a call of the device's runtime copies memory without always waiting for it.
func CopiesMemory(call string) bool { return classifyCall(call) == callCopies }

// AllocatesOnDevice says whether a call of the device's runtime allocates or frees device memory.
func AllocatesOnDevice(call string) bool { return classifyCall(call) == callAllocates }

// IsDataLoader recognises the annotation around a DataLoader's __next__.
func IsDataLoader(annotation string) bool { return isDataLoader(annotation) }

// IsStep recognises the annotation of a profiler's step.
func IsStep(annotation string) bool { return classifyName(annotation) == nameStep }

// IsPageable recognises a copy whose host memory is pageable, so that the driver waits for it.
func IsPageable(copyName string) bool { return strings.Contains(copyName, "Pageable") }
