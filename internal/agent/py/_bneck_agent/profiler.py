"""Torch's profiler by its low-level calls: no parsing in Python (34 to 58 µs per event on 2.4), no import of Inductor (2.15)."""

import ctypes
import json
import os
import sys
import time

from . import core, memorycategories, options

# What a session needs; torch has had all of it since 1.8.
NEEDED = (
    "autograd.profiler.profile",
    "autograd.profiler.record_function",
    "autograd.kineto_available",
    "autograd._prepare_profiler",
    "autograd._enable_profiler",
    "autograd._disable_profiler",
    "autograd._profiler_enabled",
    "profiler.profile",
    "profiler.ProfilerActivity",
)


def lacking(torch, names):
    """The first of the dotted names that torch has not, None where it has them all."""
    for name in names:
        found = torch
        for part in name.split("."):
            found = getattr(found, part, None)
            if found is None:
                return name
    return None


class Settings:
    """What a session records; made from the launcher's configuration."""

    def __init__(self, config):
        self.shapes = config.record_shapes
        self.memory = config.profile_memory
        self.stack = config.with_stack
        self.categories = self.memory and memorycategories.possible()  # detail windows record stacks, which torch tells them from
        self.flops = config.with_flops
        self.modules = config.with_modules
        self.activities = config.activities
        self.metadata = config.metadata
        self.metadata_json = config.metadata_json
        self.experimental = config.experimental

    def keywords(self, detail, stacks):
        """Arguments of torch.autograd.profiler.profile; detail adds shapes (and with them FLOPs), stacks allows them where asked for."""
        return {
            "record_shapes": self.shapes or detail or self.flops,
            "profile_memory": self.memory,
            "with_stack": (self.stack or detail and self.categories) and stacks and not stacks_taken(),
            "with_flops": self.flops or detail,
            "with_modules": self.modules,
        }

    def add_experimental(self, torch, keywords):
        """Adds the experimental settings."""
        settings = options.experimental(torch, self.experimental, keywords["with_stack"])
        if settings is not None:
            keywords["experimental_config"] = settings


def stacks_taken():
    """Stacks beside another user of sys.setprofile break both (INTERNAL ASSERT, his function dropped)."""
    if sys.getprofile() is not None:
        return True
    monitoring = getattr(sys, "monitoring", None)
    return monitoring is not None and monitoring.get_tool(monitoring.PROFILER_ID) is not None


def wanted_activities(torch, settings):
    """The profiler's activities: those asked for, else the CPU and every device type that has been started."""
    kinds = torch.profiler.ProfilerActivity
    if settings.activities:
        return options.activities(torch, settings.activities)
    names = ["CPU"]
    if torch.cuda.is_initialized():
        names.append("CUDA")
    xpu = getattr(torch, "xpu", None)
    if xpu is not None and getattr(xpu, "is_initialized", bool)():
        names.append("XPU")
    return {getattr(kinds, name) for name in names if hasattr(kinds, name)} or {kinds.CPU}


DRAIN_S = 2.0  # longest wait for a device at a window's start and at its end
LOOK_S = 0.0005
DETACH_LOOKS = 5


@core.hook("profiler-drain")
def drain(torch):
    """Waits until the device has done what was launched. Kernels that run after a session's end are in no trace, and those that were
    launched before it began keep the device from what it records. The device works meanwhile, so that this costs a program that is
    ahead of it nothing but its lead."""
    cuda = torch.cuda
    if not quiet(cuda):
        return
    event, until = cuda.Event(), time.monotonic() + DRAIN_S
    event.record()
    while not event.query() and time.monotonic() < until:
        time.sleep(LOOK_S)


@core.hook("profiler-detach")
def detach(torch):
    """Lets Kineto's thread, which takes CUPTI away, do so now: it waits for a call of the program's, and must be through before the next
    session begins."""
    if os.environ.get("TEARDOWN_CUPTI") != "1" or not quiet(torch.cuda):
        return
    stream = torch.cuda.current_stream()
    for _ in range(DETACH_LOOKS):
        time.sleep(2 * LOOK_S)
        stream.query()


def quiet(cuda):
    """Whether the device may be asked something."""
    return cuda.is_initialized() and not cuda.is_current_stream_capturing()


class Session:
    """One run of the profiler on this thread, from start to save. Raises whatever torch raises."""

    def __init__(self, torch, settings, detail, stacks):
        self.torch = torch
        autograd = torch.autograd
        self.kineto = bool(autograd.kineto_available())
        keywords = settings.keywords(detail, stacks)
        self.keywords = dict(keywords)
        settings.add_experimental(torch, keywords)
        profile = autograd.profiler.profile
        modules = keywords.pop("with_modules")
        try:
            self.profile = profile(use_kineto=True, **keywords) if self.kineto else profile(**keywords)
        except TypeError:
            self.profile = profile(**keywords)
        self.profile.with_modules = modules  # as an argument it warns, from 2.15 on, on the program's standard error
        self.profile._bneck_own = True  # the hooks on the program's profilers leave it alone
        self.activities = wanted_activities(torch, settings) if self.kineto else self.profile.kineto_activities
        self.averages = os.environ.get("BNECK_DUMP_AVERAGES") == "1"
        self.metadata, self.metadata_json = settings.metadata, settings.metadata_json
        self.results = None

    def start(self):
        """Begins recording on the calling thread, which must also stop it."""
        self.profile.kineto_activities = self.activities
        if self.averages:
            self.profile.__enter__()
            return
        from . import kinetoline

        autograd = self.torch.autograd
        configuration = self.profile.config()
        if severity is None and find_severity(self.torch) is None:
            os.environ.setdefault("KINETO_LOG_LEVEL", "6")
        try:
            autograd._prepare_profiler(configuration, self.activities)
            silence(self.torch)
            kinetoline.keep(self.torch)
            autograd._enable_profiler(configuration, self.activities)
        except BaseException:
            speak()
            raise
        self.flag(True)
        self.describe()

    def flag(self, on):
        """Compiled code names its regions only while torch's process-wide flag says that a profiler runs (not in 1.13)."""
        change = getattr(self.torch.autograd.profiler, "_set_is_profiler_enabled", None)
        if change is not None:
            change(on)

    @core.hook("profiler-describe")
    def describe(self):
        """Adds to the file's header what torch.profiler would add, and the user's own metadata. The session runs already, so a
        failure here must not look like one of the start."""
        add = getattr(self.torch.autograd, "_add_metadata_json", None)
        if add is None or not self.kineto:
            return
        for name, value in self.keywords.items():
            if value:
                add(name, "1")
        for name, value in self.metadata.items():
            add(name, json.dumps(value))
        for name, value in self.metadata_json.items():
            add(name, json.dumps(value))
        distributed = distributed_facts(self.torch)
        if distributed:
            add("distributedInfo", json.dumps(distributed))

    def stop(self):
        """Ends recording; what was recorded stays in memory until save."""
        if self.averages:
            self.profile.__exit__(None, None, None)
            self.results = self.profile.kineto_results
            return
        if not self.torch.autograd._profiler_enabled():  # ending what does not run warns, and gives results of nothing
            self.flag(False)
            raise RuntimeError("the program ended the session, or interrupted its start or its end")
        self.flag(False)
        self.results = self.torch.autograd._disable_profiler()
        detach(self.torch)

    def save(self, path):
        """Writes the trace to path; returns the number of events. The results are gone afterwards."""
        results, self.results = self.results, None
        try:
            return self.write(results, path)
        finally:
            speak()

    def write(self, results, path):
        """The part of save that knows how."""
        events = len(results.events())
        if events == 0:
            return 0
        if hasattr(results, "save"):
            if self.cancelled(results):
                raise RuntimeError("another profiler's start cancelled the session")
            results.save(path)
            if not os.path.exists(path):
                raise OSError("torch's profiler could not write " + path)
        else:
            write_legacy(results, path)
        if self.averages:
            dump_averages(self.profile, path)
        return events

    @staticmethod
    def cancelled(results):
        """2.15: exporting a cancelled session ends the process, and a cancelled one has no activities."""
        activities = getattr(results, "trace_activities", None)
        return activities is not None and len(activities()) == 0


def distributed_facts(torch):
    """distributedInfo of the file's header: backend, rank, world_size; None outside a job."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not getattr(distributed, "is_available", bool)() or not distributed.is_initialized():
        return None
    facts = {"backend": distributed.get_backend(), "rank": distributed.get_rank(), "world_size": distributed.get_world_size()}
    try:
        facts["pg_count"] = distributed.get_pg_count()
        facts["pg_config"] = distributed.distributed_c10d._get_all_pg_configs()
    except Exception:
        pass  # 1.13 has neither; the rest stands
    return facts


severity = None  # Kineto's log severity in memory
usual = 0
SILENT = 100


def silence(torch):
    """Keeps Kineto's chatter about our sessions off standard error without touching what it says about the program's own.

    Its severity is set in memory, around our sessions only, and after the preparation, since the first one sets it. Level 6 of
    KINETO_LOG_LEVEL does it where the variable is hidden; it is read once, so the program's own sessions are silenced too.
    """
    global severity, usual
    if severity is None:
        severity = find_severity(torch)
    if severity is not None and severity.value != SILENT:
        usual, severity.value = severity.value, SILENT


def speak():
    """Sets Kineto's severity back."""
    if severity is not None and severity.value == SILENT:
        severity.value = usual


def find_severity(torch):
    """libkineto::Logger::severityLevel_, which libtorch_cpu exports on Linux (1.13 to 2.15)."""
    try:
        library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))
        return ctypes.c_int.in_dll(library, "_ZN9libkineto6Logger14severityLevel_E")
    except (OSError, ValueError):
        return None


USER_SCOPE = 7


def write_legacy(results, path):
    """Without Kineto torch has no exporter of its own that escapes names: writes the rows as Kineto would.

    ts and dur are in microseconds, ts since the Unix epoch; "tid" is the native id of the calling thread, which recorded and
    so began the first row, and torch's internal thread number on the rows of others. The program waits meanwhile, hence rows are put
    together from text, which takes a third of the time that json.dumps does.
    """
    rows = results.events()
    first = min(rows, key=lambda event: event.start_us(), default=None)
    threads = {} if first is None else {first.start_thread_id(): core.thread_id()}
    names = {}
    head = '{"ph":"X","pid":%d,"tid":' % os.getpid()
    with open(path, "w", encoding="utf-8", buffering=1 << 20) as file:
        file.write('{"schemaVersion":1,"legacyProfiler":1,"traceStartUs":%d,"traceEvents":[' % results.trace_start_us())
        separator = "\n"
        for event in rows:
            name = event.name()
            text = names.get(name)
            if text is None:
                text = names[name] = json.dumps(name)
            number = event.start_thread_id()
            row = separator + head + '%d,"ts":%d,"name":%s,' % (threads.get(number, number), event.start_us(), text)
            file.write(row.replace('"X"', '"i"', 1) + legacy_memory(event) if name == "[memory]" else row + legacy_call(event))
            separator = ",\n"
        file.write("\n]}\n")


def legacy_memory(event):
    """The rest of the row of an allocation."""
    return '"s":"t","cat":"cpu_instant_event","args":{"Bytes":%d,"Device Type":%d,"Device Id":%d}}' % (
        event.nbytes(),
        int(event.device_type()),
        event.device_index(),
    )


def legacy_call(event):
    """The rest of the row of an operator or an annotation."""
    kind = "user_annotation" if event.scope() == USER_SCOPE else "cpu_op"
    text = '"cat":"%s","dur":%d,"args":{"External id":%d' % (kind, event.duration_us(), event.correlation_id())
    sequence, shapes = event.sequence_nr(), event.shapes()
    if sequence >= 0:
        text += ',"Sequence number":%d,"Fwd thread id":%d' % (sequence, event.fwd_thread_id())
    if shapes:
        text += ',"Input Dims":%s,"Input type":["%s"]' % (shapes, '","'.join(event.dtypes()))  # numbers, and names of types
    return text + "}}"


COLUMNS = (
    "key count self_cpu_time_total cpu_time_total self_device_time_total device_time_total self_cuda_time_total cuda_time_total "
    "self_cpu_memory_usage cpu_memory_usage self_device_memory_usage device_memory_usage flops input_shapes stack node_id "
    "is_async is_remote is_legacy is_user_annotation device_type overload_name"
).split()


def dump_averages(profile, path):
    """For tests: torch's own table of the session, every column, as averages-<n>.json beside the trace."""
    table = []
    for shapes in (False, True):
        for row in profile.key_averages(group_by_input_shape=shapes):
            columns = {}
            for name in COLUMNS:
                try:
                    columns[name] = getattr(row, name)
                except AttributeError:
                    continue
            columns["device_type"] = str(columns.get("device_type"))
            columns["by_shape"] = shapes
            table.append(columns)
    folder, name = os.path.split(path)
    target = name.replace("trace-", "averages-").replace(".part", "")
    text = json.dumps({"version": str(sys.modules["torch"].__version__), "rows": table}, default=str)
    core.replace(os.path.join(folder, target), text.encode())
