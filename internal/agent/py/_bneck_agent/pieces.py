"""Some bytes of a tensor, read where they lie: no profiler records it, and no code of the program's is run."""

import ctypes
import time

PIECE = 64  # bytes of each
DRIVER = "libcuda.so.1"
LOOK_S = 0.0005  # between two looks at a device that is waited for for longer


def bytes_of(torch, tensor, pieces):
    """Bytes of a tensor in this machine's memory at so many places; none where it cannot be read."""
    if type(tensor) is not torch.Tensor and type(tensor) is not torch.nn.Parameter or tensor.device.type != "cpu":
        return b""
    try:
        size = tensor.numel() * tensor.element_size()
        start = tensor.data_ptr() if size and tensor.layout == torch.strided and tensor.is_contiguous() else 0
        if start and hasattr(tensor, "untyped_storage"):  # 2.0 and later; a storage may have been made smaller
            start = 0 if start + size > tensor.untyped_storage().data_ptr() + tensor.untyped_storage().nbytes() else start
    except (RuntimeError, NotImplementedError):
        start = 0  # a tensor of a transformation, which has no memory of its own
    if not start:
        return b""
    if size <= pieces * PIECE:
        return ctypes.string_at(start, size)
    gap = (size - PIECE) // (pieces - 1) // PIECE * PIECE or PIECE  # a piece begins where a number does
    return b"".join([ctypes.string_at(start + gap * i, PIECE) for i in range(pieces)])


def copied(torch, tensor, wait_s):
    """The bytes of a tensor that lies on an NVIDIA device in one piece, copied by its driver once what was launched before is done; None
    where that takes longer than wait_s seconds, while a profiler records (it would show the copy as the program's), while a graph is
    captured, and where it cannot be read. A device that works is not held up; no memory of its is taken."""
    size = tensor.numel() * tensor.element_size()
    if not size or tensor.layout != torch.strided or not tensor.is_contiguous() or getattr(torch.version, "cuda", None) is None:
        return None
    if torch.autograd._profiler_enabled() or torch.cuda.is_current_stream_capturing():
        return None
    stream, until = torch.cuda.current_stream(tensor.device), time.monotonic() + wait_s
    while not stream.query():
        if time.monotonic() >= until:
            return None
        if wait_s > LOOK_S:
            time.sleep(LOOK_S)
    try:
        copy = ctypes.CDLL(DRIVER).cuMemcpyDtoH_v2
        start = tensor.data_ptr()
    except (OSError, AttributeError, RuntimeError):
        return None
    into = ctypes.create_string_buffer(size)
    failed = copy(into, ctypes.c_uint64(start), ctypes.c_size_t(size))
    return None if failed else into.raw
