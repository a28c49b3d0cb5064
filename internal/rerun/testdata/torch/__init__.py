"""What repeating operators needs of PyTorch, with operators whose times are known beforehand."""

import time

__version__ = "2.15.0"
START = time.perf_counter()
threads = 1


class Type:
    is_floating_point, is_complex = True, False


class Tensor:
    dtype = Type()

    def __init__(self, count):
        self.count = count

    def element_size(self):
        return 4

    def to(self, dtype):
        return self

    def reshape(self, shape):
        return self


float32 = float64 = float16 = bfloat16 = complex64 = complex128 = int64 = int32 = int16 = uint8 = int8 = Tensor.dtype
bool = Type()


def empty(count, dtype=None):
    return Tensor(count)


randn = empty


def set_num_threads(n):
    global threads
    threads = n


def set_flush_denormal(on):
    pass


class no_grad:
    def __enter__(self):
        pass

    def __exit__(self, *error):
        pass


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def crowded():
    """Computes for 1 ms, and waits for a core for 2 ms, with any number of threads."""
    spin(0.001)
    time.sleep(0.002)


def slower():
    """Takes three times as long from half a second on, with any number of threads."""
    time.sleep(0.001 if time.perf_counter() < START + 0.5 else 0.003)


def faster():
    """Takes half as long with two threads."""
    time.sleep(0.004 / threads)


class Argument:
    def __init__(self, kind):
        self.type, self.name, self.kwarg_only = kind, "self", False

    def has_default_value(self):
        return False


class Schema:
    arguments, returns = [Argument("Tensor")], [Argument("Tensor")]


class Overload:
    _schema = Schema

    def __init__(self, run):
        self.run = run

    def __call__(self, value):
        self.run()


class Packet:
    def __init__(self, run):
        self.default = Overload(run)

    def overloads(self):
        return ["default"]


class ops:
    class aten:
        crowded, slower, faster = Packet(crowded), Packet(slower), Packet(faster)
