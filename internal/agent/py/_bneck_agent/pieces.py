"""Some bytes of a tensor in this machine's memory, read where they lie: no profiler records it, and no code of the program's is run."""

import ctypes

PIECE = 64  # bytes of each


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
