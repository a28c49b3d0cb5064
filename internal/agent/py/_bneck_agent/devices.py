"""What decides whether torch's profiler sees an NVIDIA device: the driver's permission, its collector CUPTI, and who else has that."""

import os
import re

CAPABILITIES = (21, 38)  # SYS_ADMIN; PERFMON, since driver 565
INJECTED = re.compile(r"/(lib(?:ToolsInjection|cuda-injection|TreeLauncher)[^/ ]*\.so[^/ ]*|ncu[^/ ]*|nsys[^/ ]*)$")
CUPTI = re.compile(r"(/\S*/libcupti\.so[^ /]*)$")


def read(path):
    """A file of /proc, empty where it is not there or not for us."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 24)
    except OSError:
        return ""


def access(params=None, status=None, maps=None, environ=None):
    """The facts as a dict for process.json; None is unknown. The arguments are texts for tests, else /proc is read."""
    params = read("/proc/driver/nvidia/params") if params is None else params
    status = read("/proc/self/status") if status is None else status
    maps = read("/proc/self/maps") if maps is None else maps
    environ = os.environ if environ is None else environ
    only = re.search(r"^RmProfilingAdminOnly:\s*(\d+)", params, re.MULTILINE)
    held = re.search(r"^CapEff:\s*([0-9a-fA-F]+)", status, re.MULTILINE)
    cupti = taken = None
    for line in maps.splitlines():
        found = CUPTI.search(line)
        cupti = cupti or (found and found.group(1))
        other = INJECTED.search(line)
        taken = taken or (other and other.group(1))
    injection = environ.get("CUDA_INJECTION64_PATH") or ""
    if injection and injection != "none":
        taken = taken or os.path.basename(injection)
    return {
        "admin_only": None if only is None else only.group(1) != "0",
        "privileged": None if held is None else any(int(held.group(1), 16) >> bit & 1 for bit in CAPABILITIES),
        "cupti": cupti,
        "taken_by": taken,
    }


def there():
    """Whether this machine has a GPU, as far as its device files tell: asking a driver would start it."""
    return any(os.path.exists(path) for path in ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg"))


DETACHES_FROM = (12, 6)  # CUDA; before, programs with CUDA graphs can crash when CUPTI comes back


def detaches(torch, environ=None):
    """Has Kineto let go of CUPTI after each session. Else each launch takes longer from the first session to the program's end: 20 to 30 %
    of a step that launches more slowly than the device computes, on an H200. What is set already stands, by the user or by torch.
    """
    version = re.match(r"(\d+)\.(\d+)", getattr(torch.version, "cuda", None) or "")
    if version and (int(version.group(1)), int(version.group(2))) >= DETACHES_FROM:
        (os.environ if environ is None else environ).setdefault("TEARDOWN_CUPTI", "1")
