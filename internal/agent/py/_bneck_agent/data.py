"""DataLoaders: where they were built, how long the program waits for a batch, how long a worker takes to fetch one."""

import functools
import json
import os
import sys
import weakref

from . import core, facts, life, marks, modules, padding, sharing

KEPT_ROWS = 100_000  # waits and fetches that get a row each, if they are short
SHORT_NS = 1_000_000

places = weakref.WeakKeyDictionary()  # DataLoader -> (file, line)
described = {}  # number -> what the "loader" row says
ids = weakref.WeakKeyDictionary()  # DataLoader -> number
numbers = 0
last_iterations = weakref.WeakKeyDictionary()  # DataLoader -> steps.Loop of its last iteration
kept = 0
ahead = set()  # threads in an adapter that asks a DataLoader on its own account (huggingface.py): it marks nothing
consuming = None  # the loader that the program asked last: without workers its batch is fetched in this process


def install(torch):
    """Wraps DataLoader, its iterators and its fetchers."""
    from torch.utils.data import dataloader
    from torch.utils.data._utils import fetch

    global is_grad_enabled, iterable
    is_grad_enabled = torch.is_grad_enabled
    iterable = dataloader.IterableDataset
    life.after_fork.append(forked)
    wrap_loader(dataloader.DataLoader)
    wrap_iterator(dataloader._BaseDataLoaderIter)
    wrap_shutdown(dataloader._MultiProcessingDataLoaderIter)
    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        wrap_fetcher(getattr(fetch, name))


def wrap_loader(loader):
    """Notes where each DataLoader is built and how long its workers take to start."""
    original, iterate = loader.__init__, loader.__iter__

    @functools.wraps(original)
    def __init__(self, *arguments, **keywords):
        built(self)
        original(self, *arguments, **keywords)

    @functools.wraps(iterate)
    def __iter__(self):
        t0 = core.now()
        iterating(self)
        try:
            iterator = iterate(self)
        except Exception as error:  # a worker of this or of another DataLoader has died meanwhile
            sharing.failed(error, described.get(ids.get(self)))
            raise
        finally:
            not_iterating()
        iterated(self, iterator, t0)
        return iterator

    loader.__init__, loader.__iter__ = __init__, __iter__


def wrap_iterator(iterator):
    """Times each batch's arrival."""
    original = iterator.__next__

    @functools.wraps(original)
    def __next__(self):
        asked = core.now()
        loop = wanted(self, asked)
        t0 = core.now()  # a profiler window may have begun or ended in between
        try:
            data = original(self)
        except StopIteration:
            if loop is not None:
                exhausted(loop, asked)
            raise
        except Exception as error:
            sharing.failed(error, None if loop is None else described.get(loop.loader), "shm full", sharing.workers_of(self))
            raise
        if loop is not None:
            given(loop, t0, data)
        return data

    iterator.__next__ = __next__


def wrap_shutdown(iterator):
    """Looks how workers have ended before torch waits for them: a handler of signals tells the program of it in any line."""
    original, finalizing = iterator._shutdown_workers, sys.is_finalizing

    @functools.wraps(original)
    def _shutdown_workers(self):
        if not finalizing():  # an iterator that is left may go when modules have lost their names
            loop = getattr(self, "_bneck_loop", None)
            sharing.failed(None, None if loop is None else described.get(loop.loader), "shm full", sharing.workers_of(self))
        original(self)

    iterator._shutdown_workers = _shutdown_workers


def wrap_fetcher(fetcher):
    """Times each fetch, in the worker where there is one."""
    original = fetcher.fetch

    @functools.wraps(original)
    def fetch(self, indices):
        t0 = core.now()
        data = original(self, indices)
        fetched(t0, indices)
        return data

    fetcher.fetch = fetch


@core.hook("loader-built")
def built(loader):
    """Remembers the line that built a loader."""
    places[loader] = core.place(4)
    marks.resolve()


@core.hook("loader-iterating")
def iterating(loader):
    """Tells the workers that are about to be started whose they are."""
    global numbers
    number = ids.get(loader)
    if number is None:
        number = ids[loader] = numbers
        numbers += 1
        describe(number, loader)
    os.environ["BNECK_LOADER"] = json.dumps([number, described.get(number)])


@core.hook("loader-not-iterating")
def not_iterating():
    """The workers are started."""
    os.environ.pop("BNECK_LOADER", None)


@core.hook("loader-describe")
def describe(number, loader):
    """Writes what a loader is, when it is iterated for the first time."""
    file, line = places.get(loader, (None, None))
    try:
        length = len(loader)
    except Exception:  # an iterable data set has none, or its own code fails
        length = None
    details = {
        "workers": loader.num_workers,
        "batch_size": loader.batch_size or getattr(loader.batch_sampler, "batch_size", None),
        "prefetch": loader.prefetch_factor,
        "pin": bool(loader.pin_memory),
        "persistent": bool(loader.persistent_workers),
        "dataset": type(loader.dataset).__name__,
        "iterable": isinstance(loader.dataset, iterable),
        "length": length,
        "file": file,
        "line": line,
    }
    described[number] = details
    core.emit("loader", number, details)


@core.hook("loader-iterated")
def iterated(loader, iterator, t0):
    """An iteration begins."""
    t1 = core.now()
    iterator._bneck_loop = new_loop(loader, t0)
    if t1 - t0 > SHORT_NS:
        file, line = places.get(loader, (None, None))
        core.emit("span", "other", t0, t1, core.thread_id(), "DataLoader.__iter__", file, line, None, ids.get(loader))


def new_loop(loader, t0):
    """The Loop of an iteration that began at t0."""
    from .steps import Loop

    loop = Loop(ids.get(loader), t0)
    before = last_iterations.get(loader)
    loop.single = before is not None and before.given == 1
    if core.thread_id() not in ahead:
        last_iterations[loader] = loop
    return loop


@core.hook("loader-wanted")
def wanted(iterator, t0):
    """The program asks for a batch. Returns the iteration's Loop, None where it is unknown."""
    global consuming
    loop = getattr(iterator, "_bneck_loop", None)
    if loop is None or marks.over:
        return None
    consuming = loop.loader
    if core.thread_id() not in ahead:
        marks.batch_wanted(loop, t0, core.thread_id(), is_grad_enabled())
    queue = getattr(iterator, "_data_queue", None)
    if queue is not None and kept < KEPT_ROWS:
        count_ready(iterator, queue, t0, loop.loader)
    return loop


@core.hook("loader-ready")
def count_ready(iterator, queue, t0, number):
    """How many batches wait for the program: in the queue, and those that came out of turn."""
    try:
        ready = queue.qsize()
    except NotImplementedError:  # macOS
        return
    early = sum(1 for entry in iterator._task_info.values() if len(entry) == 2)
    core.emit("queue", t0, number, ready + early)


@core.hook("loader-given")
def given(loop, t0, data):
    """A batch has arrived for which the program waited since t0."""
    global kept
    t1 = core.now()
    kept += 1
    if kept < KEPT_ROWS or t1 - t0 > SHORT_NS:
        core.emit("wait", t0, t1, core.thread_id(), loop.loader, loop.batches)
    loop.given += 1
    if not loop.given & (loop.given - 1):  # the first, second, fourth, eighth, …
        padding.look(loop.loader, data)
    if core.thread_id() not in ahead:
        marks.batch_given(loop, items_in(data))
    core.tick(t1)


@core.hook("loader-exhausted")
def exhausted(loop, t0):
    """The loader has no more batches."""
    if core.thread_id() not in ahead:
        marks.loop_ended(loop, t0, core.thread_id(), is_grad_enabled())
    core.tick(t0)


def items_in(data, depth=3):
    """Samples in a batch: the first dimension of the first tensor found; 0 where none is."""
    shape = getattr(data, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else 0
    if depth and isinstance(data, dict) and data:
        return items_in(next(iter(data.values())), depth - 1)
    if depth and isinstance(data, (list, tuple)) and data:
        return items_in(data[0], depth - 1) or (len(data) if isinstance(data[0], (str, int, float)) else 0)
    return 0


is_grad_enabled = None  # torch's function
iterable = ()  # torch's class
mine = None  # number of the loader that this worker serves
worker = None  # torch's WorkerInfo once it is known that this is a worker; False: it is none


@core.hook("fetched")
def fetched(t0, indices):
    """One batch has been fetched, in this process."""
    global worker, kept
    t1 = core.now()
    if worker is None:
        from torch.utils.data import get_worker_info

        worker = get_worker_info() or False
        if worker:
            become_worker(worker.id)
    kept += 1
    if kept < KEPT_ROWS or t1 - t0 > SHORT_NS:
        number = mine if worker else consuming
        core.emit("fetch", t0, t1, core.thread_id(), number, None, len(indices) if isinstance(indices, (list, tuple)) else None)
    if worker:
        core.tick(t1)


def become_worker(index):
    """This process works for the loader that its parent named in the environment when it started it."""
    global mine
    facts.role, facts.worker_index = "worker", index
    facts.write()
    modules.leave()  # transforms are modules, too, and no steps
    mine, details = json.loads(os.environ.get("BNECK_LOADER", "[null, null]"))
    if details is not None:
        core.emit("loader", mine, details)


def forked():
    """A forked child may be a worker."""
    global worker, kept, consuming
    worker, kept, consuming = None, 0, None
    if "BNECK_LOADER" in os.environ:
        modules.leave()
