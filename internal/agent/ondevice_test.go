package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// deviceScript asks the agent about a torch that has a CUDA device only on paper, as this machine may have none.
const deviceScript = `
import sys
import types
from _bneck_agent import core, devices, facts, marks, profiler, settings, start_torch
core.config = settings.Settings({})
said = []

# A device's start asks for its start again before it is through: the program has it only afterwards.
state = types.SimpleNamespace(started=False, starting=False)
def lazy():
    if state.started or state.starting:
        return
    state.starting = True
    cuda._lazy_init()
    state.starting, state.started = False, True
cuda = types.SimpleNamespace(_lazy_init=lazy, is_initialized=lambda: state.started, is_current_stream_capturing=lambda: state.capturing)
torch = types.SimpleNamespace(cuda=cuda, version=types.SimpleNamespace(cuda="13.0"))
start_torch.windows = types.SimpleNamespace(over=True, begin_slices=lambda: said.append("began, started " + str(state.started)))
facts.write = lambda: None
start_torch.wait_for_device(torch)
cuda._lazy_init()
cuda._lazy_init()

# CUPTI is let go of where that is safe, and where nobody has said otherwise.
for version, environ in (("13.0", {}), ("12.6", {}), ("12.4", {}), (None, {}), ("13.0", {"TEARDOWN_CUPTI": "0"})):
    devices.detaches(types.SimpleNamespace(version=types.SimpleNamespace(cuda=version)), environ)
    said.append(environ.get("TEARDOWN_CUPTI"))

# A window waits until the device has done what was launched, not for ever, and not while a graph is captured.
class Event:
    def __init__(self, enable_timing=False):
        self.looks = 0
    def record(self):
        said.append("record")
    def query(self):
        self.looks += 1
        return self.looks > 3 and not state.hangs
    def elapsed_time(self, other):
        raise RuntimeError("driver shutting down")
cuda.Event, profiler.DRAIN_S = Event, 0.01
for state.capturing, state.hangs in ((False, False), (False, True), (True, False)):
    profiler.drain(torch)
    said.append("drained")

# A table of the program's is copied once what was launched is done; not while it works, somebody records or a graph is captured.
class Driver:
    def __init__(self, name):
        assert name == "libcuda.so.1"
    def cuMemcpyDtoH_v2(self, into, start, size):
        pieces.ctypes.memmove(into, start.value, size.value)
        return 0
class Tensor(types.SimpleNamespace):
    numel = lambda self: 3
    element_size = lambda self: 2
    is_contiguous = lambda self: True
    data_ptr = lambda self: pieces.ctypes.addressof(held)
from _bneck_agent import pieces
held = pieces.ctypes.create_string_buffer(b"abcdef", 6)
pieces.ctypes.CDLL = Driver
table = Tensor(layout=1, device="cuda:0")
torch.strided, torch.autograd = 1, types.SimpleNamespace(_profiler_enabled=lambda: state.records)
cuda.current_stream = lambda device: types.SimpleNamespace(query=lambda: not state.works)
for state.works, state.records, state.capturing in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)):
    said.append(pieces.copied(torch, table, 0.001))

# Rows of steps are written whatever a device says at the end.
clock = marks.DeviceClock(torch)
state.capturing = state.hangs = False
for number in range(2):
    clock.add(("step", number))
clock.previous = None
clock.finish()

# A forked child frees nothing of its parent's device, at its end neither: that would abort it.
import gc, os
class Owned(Event):
    owner = os.getpid()
    def __del__(self, getpid=os.getpid, abort=os.abort):
        if getpid() != self.owner:
            abort()
cuda.Event = Owned
marks.device = clock
state.hangs = True
for number in range(2):
    clock.add(("waits", number))
del clock
marks.begin = lambda windows: None
sys.stdout.flush()
child = os.fork()
if child == 0:
    start_torch.forked()
    gc.collect()
    sys.exit(5)
said.append(os.waitpid(child, 0)[1])
marks.device = None
print(*said, [row for row in core.rows if "step" in row[:1]], [row for row in core.rows if row[2:3] == ("hook-failed",)])
`

// TestDeviceOnPaper checks what the agent does around a device: when the program has one, that CUPTI is let go of, that windows wait
// for what was launched, and that no step is lost at the end.
func TestDeviceOnPaper(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	path := filepath.Join(t.TempDir(), "device.py")
	if err := os.WriteFile(path, []byte(deviceScript), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(python, path)
	command.Env = environment("PYTHONPATH=" + here(t) + "/py")
	output, err := command.CombinedOutput()
	if want := "began, started True 1 1 None None 0 record drained record drained drained b'abcdef' None None None " +
		"record record record record 1280 " +
		"[('step', 0, None), ('step', 1, None)] []\n"; err != nil || string(output) != want {
		t.Errorf("%v\n%swant\n%s", err, output, want)
	}
}
