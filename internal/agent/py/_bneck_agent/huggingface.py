"""Hugging Face's Trainer, Accelerate and DeepSpeed: the Trainer's steps, loaders that read one batch ahead, methods as actions."""

import functools

from . import core, data, marks, trainers

TRAINER = ("train", "evaluate", "predict", "training_step", "prediction_step", "get_batch_samples", "create_optimizer_and_scheduler")
TRAINER += ("get_train_dataloader", "get_eval_dataloader", "get_test_dataloader", "compute_loss", "log", "_save_checkpoint", "save_model")
ACCELERATOR = ("prepare", "backward", "clip_grad_norm_", "clip_grad_value_", "gather", "gather_for_metrics", "reduce", "log")
ACCELERATOR += ("save_state", "load_state")
ENGINE = ("train_batch", "eval_batch", "backward", "step", "save_checkpoint", "load_checkpoint")
LOOPS = ("evaluation_loop", "prediction_loop")

evaluating = []  # kinds of step of the running evaluation loops, innermost last


def watch_callbacks(module):
    """The calls that a Trainer makes at the borders of its steps; each callback's methods are actions."""
    handler = module.CallbackHandler
    base = module.TrainerCallback
    events = [name for name in vars(base) if name.startswith("on_")]
    before(handler, "on_step_begin", step_begins)
    for name in ("on_epoch_end", "on_train_end"):
        before(handler, name, loop_is_over)
    before(handler, "on_prediction_step", batch_predicted)
    original = handler.add_callback

    @functools.wraps(original)
    def add_callback(self, callback):
        watch_callback(callback if isinstance(callback, type) else type(callback), base, events)
        return original(self, callback)

    handler.add_callback = add_callback


@core.hook("callback-watch")
def watch_callback(kind, base, events):
    """The methods that a callback's class has of its own; a class that is none of the library's calls what it likes."""
    trainers.time_methods(kind, "Callback", events, base if issubclass(kind, base) else object)


def before(kind, name, function):
    """Calls function before a method."""
    original = getattr(kind, name)

    @functools.wraps(original)
    def method(self, *arguments, **keywords):
        function()
        return original(self, *arguments, **keywords)

    setattr(kind, name, method)


@core.hook("trainer-step-begins")
def step_begins():
    """The batches of one optimizer step are there and will be worked on; fetching the next ones belongs to this step, too."""
    marks.manual(core.now(), core.thread_id(), "trainer", "train")


@core.hook("trainer-loop-over")
def loop_is_over():
    """An epoch ends."""
    marks.rest(core.now(), core.thread_id(), "trainer")


@core.hook("trainer-predicted")
def batch_predicted():
    """A batch of an evaluation is done."""
    if evaluating:
        marks.manual(core.now(), core.thread_id(), "trainer", evaluating[-1])


def watch_trainer(module):
    """Trainer and its subclasses, from the first instance of each on."""
    trainers.inner(module)
    kind = module.Trainer
    original = kind.__init__

    @functools.wraps(original)
    def __init__(self, *arguments, **keywords):
        watch_trainer_class(type(self))
        original(self, *arguments, **keywords)

    kind.__init__ = __init__


@core.hook("trainer-class")
def watch_trainer_class(kind):
    """Methods of a Trainer's class: evaluation loops have steps of their own, others are actions."""
    for owner in kind.__mro__:
        for name in LOOPS:
            function = vars(owner).get(name)
            if function is not None and not hasattr(function, "_bneck"):
                setattr(owner, name, evaluation(function))
    trainers.time_methods(kind, "Trainer", TRAINER)


def evaluation(function):
    """A loop over batches without training: one step per batch."""

    @functools.wraps(function)
    def loop(self, dataloader, description="", *arguments, **keywords):
        evaluation_begins(description)
        try:
            return function(self, dataloader, description, *arguments, **keywords)
        finally:
            evaluation_ended()

    loop._bneck = True
    return loop


@core.hook("evaluation-begins")
def evaluation_begins(description):
    """Its first step begins, and with it ends a step of training."""
    kind = "inference" if "predict" in str(description).lower() else "validation"
    loop_is_over()
    evaluating.append(kind)
    batch_predicted()


@core.hook("evaluation-ended")
def evaluation_ended():
    """What follows the last batch is no step: results are gathered."""
    evaluating.pop()
    tracker = marks.tracker
    if tracker.current is not None and tracker.current.source == "trainer" and tracker.driver == core.thread_id():
        tracker.current = None


def watch_accelerator(module):
    """Accelerate's own calls as actions."""
    trainers.inner(module)
    trainers.time_methods(module.Accelerator, "Accelerator", ACCELERATOR)


def watch_optimizer(module):
    """Accelerate's optimizers, around torch's."""
    trainers.time_methods(module.AcceleratedOptimizer, "Optimizer", ("step", "zero_grad"))


def watch_scheduler(module):
    """Accelerate's schedulers of learning rates."""
    trainers.time_methods(module.AcceleratedScheduler, "Scheduler", ("step",))


def watch_engine(module):
    """DeepSpeed's engine: its calls as actions. Its optimizers mark the steps."""
    trainers.inner(module)
    trainers.time_methods(module.DeepSpeedEngine, "DeepSpeedEngine", ENGINE)


def watch_pipeline(module):
    """DeepSpeed's engine for pipelines has calls of its own."""
    trainers.time_methods(module.PipelineEngine, "DeepSpeedEngine", ENGINE)


def watch_loaders(module):
    """Accelerate's loaders: they are the user's DataLoaders in another form, and read ahead to know which batch is the last."""
    for name in ("DataLoaderShard", "DataLoaderDispatcher", "SkipDataLoader"):
        kind = getattr(module, name, None)
        if kind is not None:
            wrap_iteration(kind)
    for name in ("prepare_data_loader", "skip_first_batches"):
        if hasattr(module, name):
            setattr(module, name, keep_place(getattr(module, name)))


def keep_place(function):
    """The prepared loader stands where the user's was built."""

    @functools.wraps(function)
    def prepare(dataloader, *arguments, **keywords):
        result = function(dataloader, *arguments, **keywords)
        same_place(dataloader, result)
        return result

    return prepare


@core.hook("loader-same-place")
def same_place(loader, result):
    """Both are DataLoaders or adapters around one."""
    place = data.places.get(base_of(loader))
    if place is not None:
        data.places[base_of(result)] = place


def base_of(loader):
    """The DataLoader itself."""
    return getattr(loader, "base_dataloader", loader)


def wrap_iteration(kind):
    """Marks batches when the program asks for them, not when the adapter reads ahead."""
    original = kind.__iter__

    @functools.wraps(original)
    def __iter__(self):
        batches = original(self)
        loop = loop_begins(self)
        try:
            while True:
                start = wanted(self, loop)
                try:
                    batch = next(batches)
                except StopIteration:
                    exhausted(loop)
                    return
                finally:
                    reading_over()
                given(self, loop, start, batch)
                yield batch
        finally:
            batches.close()

    kind.__iter__ = __iter__


@core.hook("ahead-begins")
def loop_begins(loader):
    """The program begins to iterate."""
    t0 = core.now()
    loader = base_of(loader)
    data.iterating(loader)
    data.not_iterating()
    return data.new_loop(loader, t0)


@core.hook("ahead-wanted")
def wanted(adapter, loop):
    """The program asks for a batch, which is an action: what the adapter's own DataLoader is asked meanwhile marks nothing."""
    if loop is None:
        return None
    marks.batch_wanted(loop, core.now(), core.thread_id(), data.is_grad_enabled())
    data.ahead.add(core.thread_id())
    return trainers.starts(fetching(adapter))


def fetching(adapter):
    """The action's name."""
    return "[DataLoader]%s.next" % type(adapter).__name__


@core.hook("ahead-read")
def reading_over():
    """The adapter has returned."""
    data.ahead.discard(core.thread_id())


@core.hook("ahead-given")
def given(adapter, loop, start, batch):
    """The program gets the batch that it has asked for, as wanted returned."""
    if start is not None:
        loop.given += 1
        trainers.ends(fetching(adapter), start)
        marks.batch_given(loop, data.items_in(batch))


@core.hook("ahead-exhausted")
def exhausted(loop):
    """There are no more batches."""
    if loop is not None:
        marks.loop_ended(loop, core.now(), core.thread_id(), data.is_grad_enabled())
