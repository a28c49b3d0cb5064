"""What the launcher tells the agent, and what holds where it says nothing.

Made of Config and Schedule in agent.go by `go test ./internal/agent -run Settings -update`: change it there.
"""


class Told:
    """Settings as attributes."""

    def __init__(self, told):
        self.__dict__.update((name, value) for name, value in told.items() if value is not None)


class Schedule(Told):
    """Schedule of agent.go, which says what each means."""

    wait = 0
    warmup = 0
    active = 0
    repeat = 0
    skip_first = 0
    skip_first_wait = 0


class Settings(Told):
    """Config of agent.go, which says what each means."""

    session = ""
    no_trace = False
    schedule = None
    schedule_py = ""
    whole_run = False
    on_trace_ready = False
    duration = 0.0
    steps = 0
    stop_after = False
    ablate = ""
    ablate_file = ""
    ablate_line = 0
    ranks = []
    max_ranks = 8
    step_on = []
    region_on = []
    activities = []
    record_shapes = False
    profile_memory = False
    with_stack = False
    with_flops = False
    with_modules = False
    metadata = {}
    metadata_json = {}
    experimental = {}
    emit = ""
    calls = False
    lines = []
    event_budget = 300_000
    max_pause = 0.5
    max_bytes = 2 << 30
    sample = 0.0
    verbose = False
