"""Writes small.pftrace with the messages of the PyPI package `perfetto` (0.59.1), which Google generates from its .proto files."""

import sys
import zlib

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as p

trace = p.Trace()


def packet(sequence=1, at=None, to=None, **fields):
    one = (to or trace).packet.add()
    one.trusted_packet_sequence_id = sequence
    if at is not None:
        one.timestamp = at
    for name, value in fields.items():
        setattr(one, name, value)
    return one


NEEDS = 2
clocks = packet(sequence=9).clock_snapshot
for clock, at in ((6, 5_000_000_000), (3, 4_000_000_000), (1, 1_700_000_000_000_000_000)):
    c = clocks.clocks.add()
    c.clock_id, c.timestamp = clock, at

process = packet().track_descriptor
process.uuid = 100
process.process.pid, process.process.process_name = 10, "train"
thread = packet().track_descriptor
thread.uuid, thread.parent_uuid = 101, 100
thread.thread.pid, thread.thread.tid, thread.thread.thread_name = 10, 11, "worker"
counter = packet().track_descriptor
counter.uuid, counter.parent_uuid, counter.name = 102, 100, "queue depth"
counter.counter.unit_name, counter.counter.is_incremental = "items", True

# a sequence with names by number, and a default track
first = packet(sequence_flags=1)
for iid, name in ((1, "aten::addmm"), (2, "gemm_kernel"), (3, "hipLaunchKernel")):
    n = first.interned_data.event_names.add()
    n.iid, n.name = iid, name
for iid, name in ((1, "cpu_op"), (2, "kernel_dispatch"), (3, "hip_runtime_api")):
    c = first.interned_data.event_categories.add()
    c.iid, c.name = iid, name
for iid, name in ((1, "stream_id"), (2, "corr_id"), (3, "agent_id")):
    a = first.interned_data.debug_annotation_names.add()
    a.iid, a.name = iid, name
first.trace_packet_defaults.track_event_defaults.track_uuid = 101


def event(at, kind, name=0, category=0, track=0, to=None, **annotations):
    e = packet(at=at, to=to, sequence_flags=NEEDS).track_event
    e.type = kind
    if name:
        e.name_iid = name
    if category:
        e.category_iids.append(category)
    if track:
        e.track_uuid = track
    for key, value in annotations.items():
        a = e.debug_annotations.add()
        a.name_iid, a.uint_value = {"stream": 1, "correlation": 2, "device": 3}[key], value


BEGIN, END, COUNTER = 1, 2, 4
bundle = p.Trace()
event(5_000_001_000, BEGIN, 1, 1, to=bundle)
event(5_000_002_000, BEGIN, 3, 3, to=bundle, correlation=7)
event(5_000_003_000, END, to=bundle)
event(5_000_009_000, END, to=bundle)
packet().compressed_packets = zlib.compress(bundle.SerializeToString())
event(5_000_004_000, BEGIN, 2, 2, track=200, stream=3, device=1, correlation=7)
event(5_000_008_500, END, track=200)
for at, value in ((5_000_001_000, 4), (5_000_005_000, -1)):
    e = packet(at=at).track_event
    e.type, e.track_uuid, e.counter_value = COUNTER, 102, value

# a sequence whose clock counts microseconds from the time before
own = packet(sequence=2, incremental_state_cleared=True)
for clock, at, steps, unit in ((6, 5_000_100_000, False, 1), (64, 0, True, 1000)):
    c = own.clock_snapshot.clocks.add()
    c.clock_id, c.timestamp, c.is_incremental, c.unit_multiplier_ns = clock, at, steps, unit
packet(sequence=2).trace_packet_defaults.timestamp_clock_id = 64
for delta, kind in ((1, BEGIN), (4, END)):
    e = packet(sequence=2, at=delta).track_event
    e.type, e.track_uuid, e.name = kind, 101, "late slice"
    e.categories.append("python")

# CPU samples
s = packet(sequence=3, sequence_flags=1)
s.trace_packet_defaults.perf_sample_defaults.timebase.frequency = 100
d = s.interned_data
for iid, name in ((1, "main"), (2, "leaf")):
    f = d.function_names.add()
    f.iid, f.str = iid, name.encode()
path = d.source_paths.add()
path.iid, path.str = 1, b"/app/train.py"
for iid, name, line in ((1, 1, 10), (2, 2, 20)):
    f = d.frames.add()
    f.iid, f.function_name_id, f.source_path_iid, f.line_number = iid, name, 1, line
stack = d.callstacks.add()
stack.iid = 5
stack.frame_ids.extend([1, 2])
for n in range(30):
    e = packet(sequence=3, at=5_000_000_000 + n * 10_000_000, sequence_flags=NEEDS).perf_sample
    e.pid, e.tid, e.callstack_iid = 10, 11, 5

# a packet whose names were lost, and an event of the older form
packet(sequence=4, at=5_000_000_000, sequence_flags=NEEDS).track_event.name_iid = 1
e = packet(sequence=5, at=5_000_020_000).track_event
e.track_uuid, e.name = 101, "legacy"
e.legacy_event.phase, e.legacy_event.duration_us = ord("X"), 7

with open(sys.argv[1], "wb") as out:
    out.write(trace.SerializeToString())
