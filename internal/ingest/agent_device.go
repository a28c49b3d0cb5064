package ingest

import "bottleneck/internal/model"

// deviceAccess is "gpu_profiling" of process.json: what decides whether CUPTI, the driver's collector, sees the device. nil is
// unknown.
type deviceAccess struct {
	Asked      *bool   `json:"asked"`      // false: the user wanted no device in the traces
	AdminOnly  *bool   `json:"admin_only"` // RmProfilingAdminOnly of the driver
	Privileged *bool   `json:"privileged"` // CAP_SYS_ADMIN or CAP_PERFMON
	CUPTI      *string `json:"cupti"`      // the library that is loaded
	TakenBy    *string `json:"taken_by"`   // another tool in the process
}

// why says which of them keeps kernels out of the traces, and the way round; "" where none were wanted.
func (a *deviceAccess) why() string {
	const unseen = "GPU not observed: the program used the GPU and no kernel is in the traces. "
	switch {
	case a != nil && a.Asked != nil && !*a.Asked:
		return ""
	case a == nil:
		return unseen + "Kineto's messages say why: run the program alone with torch.profiler and KINETO_LOG_LEVEL=0"
	case a.TakenBy != nil:
		return unseen + "Another tool has the driver's collector CUPTI, which serves one at a time (" + *a.TakenBy + "): run without it"
	case a.AdminOnly != nil && *a.AdminOnly && a.Privileged != nil && !*a.Privileged:
		return unseen + "The driver lets only administrators profile (RmProfilingAdminOnly: 1): run as root, in a container with " +
			"--cap-add=SYS_ADMIN, or put \"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" into a file in /etc/modprobe.d and " +
			"load the driver anew"
	case a.CUPTI == nil:
		return unseen + "The driver's collector CUPTI is not loaded: install the nvidia-cuda-cupti package of PyTorch's CUDA version, or " +
			"a PyTorch that brings it"
	}
	return unseen + "CUPTI is loaded (" + *a.CUPTI + ") and nothing is known to hold it: a monitor may (dcgmi profp --pause lets go), " +
		"or it does not fit the driver; torch.profiler with KINETO_LOG_LEVEL=0 prints its error"
}

// devices notes the processes that used a device of which no trace shows any work, so that it is never taken for idle.
func (r *sessionReader) devices() {
	for i, p := range r.added() {
		if p.NoKernels == "" || !r.usedDevice(p, r.first+i) {
			continue
		}
		p.Notes = append(p.Notes, model.Note{Time: p.Start, Code: "gpu-not-observed", Text: p.NoKernels})
	}
}

// usedDevice says whether process number i worked on a device while it was traced and its traces show nothing of that: its
// steps have times of the device's clock, or the traces hold calls of its runtime.
func (r *sessionReader) usedDevice(p *model.Process, i int) bool {
	used, traced := p.TimedOnDevice(), false
	for _, t := range r.s.Traces {
		if t.Process != i {
			continue
		}
		traced = true
		for _, kind := range t.Events.Kind {
			if kind.Device() {
				return false
			}
			used = used || kind == model.KindRuntime
		}
	}
	return used && traced
}
