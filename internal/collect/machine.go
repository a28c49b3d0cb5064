package collect

import (
	"os"
	"runtime"
	"strings"

	"bottleneck/internal/record"
)

// threadVariables are the environment variables that decide how many threads compute, how they are placed, and a few
// that change how fast the same program runs. None of them carries a secret.
var threadVariables = []string{
	"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
	"BLIS_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY", "OMP_DYNAMIC", "GOMP_CPU_AFFINITY",
	"GOMP_SPINCOUNT", "KMP_AFFINITY", "KMP_BLOCKTIME", "MKL_DYNAMIC", "TORCHINDUCTOR_COMPILE_THREADS",
	LaunchBlocking, "CUDA_VISIBLE_DEVICES", "CUDA_MODULE_LOADING", "CUDA_DEVICE_MAX_CONNECTIONS",
	"NVIDIA_TF32_OVERRIDE", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
	"PYTHONMALLOC", "PYTHON_GIL", "MALLOC_CONF", "LD_PRELOAD", "GLIBC_TUNABLES", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_",
	"MALLOC_MMAP_MAX_", "MALLOC_TOP_PAD_", "MALLOC_ARENA_MAX", "THP_MEM_ALLOC_ENABLE",
}

// ThreadSettings are the variables of env ("NAME=value") that decide thread counts and placement.
func ThreadSettings(env []string) map[string]string {
	wanted := map[string]bool{}
	for _, name := range threadVariables {
		wanted[name] = true
	}
	out := map[string]string{}
	for _, pair := range env {
		if name, value, ok := strings.Cut(pair, "="); ok && wanted[name] {
			out[name] = value
		}
	}
	return out
}

// LaunchBlocking is set to 1 for programs that shall wait at each launch for the device's work.
const LaunchBlocking = "CUDA_LAUNCH_BLOCKING"

// ReadMachine reads what the machine offers now. It costs well under a millisecond per field and starts nothing.
func ReadMachine() *record.Machine {
	m := &record.Machine{OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), ThreadSettings: ThreadSettings(os.Environ())}
	readMachine(os.DirFS("/"), m)
	return m
}
