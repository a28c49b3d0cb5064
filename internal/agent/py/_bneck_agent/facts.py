"""process.json: what this process is (docs/session.md)."""

import json
import os
import re
import sys
import time

from . import core, devices, secrets

PACKAGES = (
    "torch numpy pandas torchvision torchaudio torchdata lightning pytorch_lightning transformers accelerate datasets "
    "deepspeed triton scipy sklearn PIL cv2 tensordict timm xformers flash_attn bitsandbytes apex"
).split()
THREAD_VARIABLES = (
    "OMP_NUM_THREADS MKL_NUM_THREADS OPENBLAS_NUM_THREADS NUMEXPR_NUM_THREADS OMP_PROC_BIND KMP_AFFINITY KMP_BLOCKTIME"
).split() + ["CUDA_LAUNCH_BLOCKING"]
LAUNCHERS = re.compile(
    r"(torchrun|torch\.distributed\.(run|launch)|torch/distributed/(run|launch)\.py|accelerate(\.commands)?[ .]launch|deepspeed)\b"
)

# Processes that multiprocessing starts for itself: they outlive the program by seconds, in which they would change its session.
HELPERS = re.compile(r"from multiprocessing\.(resource_tracker|semaphore_tracker|forkserver) import main\b")

role = "main"
helper = False  # one of HELPERS
worker_index = None
exit_reason = None


def command_line():
    """This process's arguments as the system has them; sitecustomize runs before sys.argv is set."""
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return [part.decode("utf-8", "replace") for part in file.read(1 << 16).split(b"\0")[:-1]]
    except OSError:
        return list(getattr(sys, "orig_argv", None) or getattr(sys, "argv", []))


def number(name):
    """An environment variable as an int, None where it is not one."""
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return None


measuring_over = False  # --steps or --duration have ended the measuring here

# Where launchers tell a process its rank, local rank and the number of ranks: torchrun, Slurm, Open MPI, MPICH.
RANK_VARIABLES = (
    ("RANK", "LOCAL_RANK", "WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"),
)


def rank_of():
    """(rank, local rank, number of ranks) of this process; (None, None, 1) outside a distributed job."""
    told = distributed_rank()
    if told is not None:
        return told[0], number("LOCAL_RANK"), told[1]
    for rank, local, world in RANK_VARIABLES:
        if number(rank) is not None and (number(world) or 1) > 1:
            return number(rank), number(local), number(world)
    return None, None, 1


told = None  # what torch.distributed said last: programs end their groups before they end themselves
inherited = None  # in a forked child: the parent's group, which makes the child no rank


def distributed_rank():
    """(rank, number of ranks) as torch.distributed knows or knew them, None before the program has set it up."""
    global told
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not getattr(distributed, "is_available", bool)() or not distributed.is_initialized():
        return told
    if inherited is None or group_of_all() is not inherited:
        told = distributed.get_rank(), distributed.get_world_size()
    return told


def group_of_all():
    """torch.distributed's group of all ranks, None where there is none."""
    ranks = getattr(sys.modules.get("torch.distributed.distributed_c10d"), "GroupMember", None)
    return getattr(ranks, "WORLD", None)


def become_rank():
    """Makes a process that the program started itself a rank, once torch.distributed has been told so; returns whether it did."""
    global role
    known = distributed_rank()
    if role not in ("main", "other") or helper or known is None or known[1] < 2:
        return False
    role = "rank"
    os.environ["BNECK_PARENT_ROLE"] = "rank:%d" % os.getpid()
    return True


@core.hook("rank")
def look():
    """Writes at once that this process is a rank: one that is killed writes no more."""
    if become_rank():
        write()


core.before_flush.append(look)


def find_role():
    """Sets role from the command line and the environment, and tells children what their parent is."""
    global role, helper
    parent, _, pid = os.environ.get("BNECK_PARENT_ROLE", "").partition(":")
    line = " ".join(command_line()[:8])
    helper = bool(HELPERS.search(line))
    if "_inductor/compile_worker" in line or "torch._inductor.compile_worker" in line:
        role = "compile"
    elif LAUNCHERS.search(line):
        role = "launcher"
    elif rank_of()[2] > 1 and parent != "rank":
        role = "rank"
    elif pid == str(os.getpid()):
        role = parent  # this process replaced itself by exec
    elif parent in ("", "launcher"):
        role = "main"
    else:
        role = "other"
    os.environ["BNECK_PARENT_ROLE"] = "%s:%d" % (role, os.getpid())


def child_role():
    """The role of a process forked from this one, until more is known."""
    global role, helper, worker_index, told, inherited
    role, helper, worker_index, told, inherited = "other", False, None, None, group_of_all()
    os.environ["BNECK_PARENT_ROLE"] = "other:%d" % os.getpid()


def write():
    """Writes process.json; nothing on failure."""
    if core.folder is None:
        return
    try:
        core.replace(os.path.join(core.folder, "process.json"), json.dumps(gather(), default=str).encode("utf-8", "backslashreplace"))
    except OSError:
        core.folder = None


def consumer():
    """The process that a worker works for: its parent, unless a fork server stands between them."""
    parent = getattr(sys.modules.get("multiprocessing.process"), "_parent_process", None)
    return getattr(parent, "pid", None)


def gather():
    """All facts as a dict for JSON."""
    become_rank()
    rank, local, world = rank_of()
    if role not in ("rank", "worker") or world < 2:
        rank = local = None
    facts = {
        "schema": "bottleneck.process/1",
        "pid": os.getpid(),
        "ppid": os.getppid(),
        "host": os.uname().nodename if hasattr(os, "uname") else "",
        "start_unix_ns": core.start_unix_ns,
        "start_mono_ns": core.start_mono_ns,
        "role": role,
        "rank": rank,
        "local_rank": local,
        "world_size": world if rank is not None else None,
        "worker_index": worker_index,
        "consumer": consumer() if role == "worker" else None,
        "argv": secrets.arguments(command_line()),
        "executable": sys.executable,
        "python": "%d.%d.%d" % sys.version_info[:3],
        "libc": libc(),
        "main_thread": os.getpid() if sys.platform.startswith("linux") else None,
        "cwd": working_directory(),
        "threads_env": thread_settings(),
        "packages": packages(),
        "counters": dict(core.counters),
        "agent": {"version": core.VERSION, "cpu_ns": core.cpu_ns, "longest_pause_ns": core.longest_pause_ns},
    }
    facts.update(torch_facts())
    if helper:
        facts["helper"] = True
    if measuring_over:
        facts["measuring_over"] = True
    if exit_reason is not None:
        facts["exit"] = {"unix_ns": time.time_ns(), "reason": exit_reason}
    return facts


def thread_settings():
    """What bounds threads or lets launches wait, and whether a free-threaded build has its lock, which an import may have switched on."""
    settings = {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ}
    if "t" in getattr(sys, "abiflags", "") and hasattr(sys, "_is_gil_enabled"):
        settings["sys._is_gil_enabled"] = str(sys._is_gil_enabled())
    return settings


def libc():
    """The C library with its version, None where it does not tell it."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):  # no POSIX system, or another library than glibc
        return None


def working_directory():
    """The current directory, None where it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return None


def packages():
    """Versions of the packages that matter, of those that are loaded."""
    found = {}
    for name in PACKAGES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            found[name] = version
    return found


def torch_facts():
    """ "torch" and "gpus", empty before torch is there."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "get_num_threads") or "torch-facts" in core.broken:
        return {}
    return read_torch(torch) or {}


@core.hook("torch-facts")
def read_torch(torch):
    """What torch says of itself; asks nothing that would start a device."""
    version = getattr(torch, "version", None)
    facts = {
        "version": str(torch.__version__),
        "cuda": getattr(version, "cuda", None),
        "hip": getattr(version, "hip", None),
        "debug": bool(getattr(version, "debug", False)),
        "git": getattr(version, "git_version", None),
        "num_threads": torch.get_num_threads(),
        "num_interop_threads": torch.get_num_interop_threads(),
        "kineto": bool(getattr(torch.autograd, "kineto_available", lambda: False)()),
    }
    result = {"torch": facts}
    cuda = getattr(torch, "cuda", None)
    if cuda is not None and cuda.is_initialized():
        result["gpus"] = [gpu(cuda, index) for index in range(cuda.device_count())]
        asked = core.config.activities
        if asked and "cuda" not in [name.lower() for name in asked]:
            result["gpu_profiling"] = {"asked": False}
        elif facts["cuda"]:
            result["gpu_profiling"] = devices.access()
    return result


def gpu(cuda, index):
    """One device as torch describes it."""
    properties = cuda.get_device_properties(index)
    return {
        "index": index,
        "name": properties.name,
        "memory_bytes": properties.total_memory,
        "compute_major": properties.major,
        "compute_minor": properties.minor,
        "sms": properties.multi_processor_count,
    }
