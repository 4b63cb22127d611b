"""Make memory that a kernel forgets to write, or may not read, visible."""

import contextlib
import ctypes
import errno
import functools
import gc
import itertools
import math
import mmap
import os
import platform
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from opcheck.tensors import constant

# As floats: 1.5e16, -3e-16, NaN, 1.4e-45 or so, -1.7e38.
FILLINGS = (0x5A, 0xA5, 0x7F, 0x01, 0xFE)
# As floats: 3.0, and its complement -1.5. Neither is what an op would write, nor near it.
VISIBLE = 0x40
_UNFILLED = 0xFF
_TELLING = 4  # bytes of an element that are not by chance all one filling
_M_PERTURB = -6  # of glibc's malloc.h
_NO_ACCESS = 0  # PROT_NONE, which Python's mmap does not name
_ALIGNMENT = 64  # a kernel that asks for what begins elsewhere ends the process
# Of linux/perf_event.h: the number of the system call, and of what an event is.
_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
_BREAKPOINT, _READ_OR_WRITE = 5, 3
_INHERIT, _NOT_THE_KERNEL = 1 << 1, 1 << 5 | 1 << 6
_CALLS, _WINDOWS = 10, 3  # of a call that may be refused
_WATCHED = 4  # addresses at once: a processor has so many registers for them
_filling = _UNFILLED


@contextlib.contextmanager
def filled_memory(byte: int) -> Iterator[None]:
    """Lets newly allocated memory hold a byte, instead of what happened to be there.

    Works with the GNU C library; elsewhere, and under a sanitizer, it does nothing.

    Call the op twice inside, and look at the second call: malloc's cache of a thread hands chunks out
    as they were freed, with the complement of the byte if that was inside too.

    Args:
      byte: 0 to 254.
    """
    before = _filling
    fill_memory(byte)
    try:
        yield
    finally:
        fill_memory(before)


def fill_memory(byte: int) -> None:
    """As `filled_memory`, from now on; 255 leaves new memory as it is."""
    global _filling
    _filling = byte
    try:
        # malloc fills with the complement
        ctypes.CDLL(None).mallopt(_M_PERTURB, byte ^ 0xFF)
    except (AttributeError, OSError):
        pass


def show_filling(*runs: Sequence[np.ndarray]) -> bool:
    """Whether an element of results is in one run nothing but one filling of memory, and in another run another one.

    That is for certain memory that was not written: also where other threads take what was filled, and so calls differ
    that are made with one filling.
    """
    fillings = {x for byte in (*FILLINGS, VISIBLE) for x in (byte, byte ^ 0xFF)}
    for some in zip(*runs):
        if len({(x.shape, x.dtype) for x in some}) > 1 or not some[0].size:
            continue
        size = some[0].dtype.itemsize
        if some[0].dtype.hasobject or size < _TELLING:
            continue
        rows = [np.ascontiguousarray(x).reshape(-1).view(np.uint8) for x in some]
        held = np.stack(rows).reshape(len(some), -1, size)
        first = held[..., 0]
        whole = (held == first[..., None]).all(-1) & np.isin(first, list(fillings))
        least = np.where(whole, first, 0xFF).min(0)
        most = np.where(whole, first, 0).max(0)
        if (whole.any(0) & (least < most)).any():
            return True
    return False


def guarded(value, filling: int = 0, before: int | None = None):
    """A tensor with the elements of an array or tensor, that ends where memory ends.

    The page behind it is not readable, so that a read past the end by 64 bytes ends the process. What is left between
    the last element and that page, since a tensor begins at a multiple of 64 bytes, holds a byte of your choice.

    Args:
      value: An array, or something that NumPy makes one of.
      filling: The byte.
      before: The byte in front of the first element, if that is another one.

    Returns:
      A tf.Tensor; an ordinary one where the dtype or the system does not allow more.
    """
    return _placed(value, filling, filling if before is None else before)[0]


def _placed(value, filling: int = 0, before: int = 0) -> tuple:
    """As `guarded`, and the address behind the last element; 0 for an ordinary tensor."""
    array = np.ascontiguousarray(value.numpy() if hasattr(value, "numpy") else value)
    array = array.reshape(np.shape(value))
    if not array.size or array.dtype.kind not in "iufcbV" or array.dtype.names:
        return constant(value), 0
    try:
        return _at_the_end(array, filling, before)
    except Exception:
        return constant(array), 0


def in_place(array: np.ndarray):
    """A tensor in the memory of an array, which begins at a multiple of 64 bytes."""
    import tensorflow as tf

    if array.dtype.name != "bfloat16":
        return tf.experimental.dlpack.from_dlpack(array.__dlpack__())
    # of which NumPy's protocol does not know
    own = tf.experimental.dlpack.from_dlpack(array.view(np.uint16).__dlpack__())
    return tf.bitcast(own, tf.bfloat16)


def after_zeros(array: np.ndarray, zeros: int, axis: int) -> np.ndarray:
    """An array behind so many rows of zeros, along an axis, that take no memory as long as they are only read."""
    shape = list(array.shape)
    shape[axis] += zeros
    size = array.itemsize * math.prod(shape)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    made = np.frombuffer(mmap.mmap(-1, size, flags), array.dtype).reshape(shape)
    np.moveaxis(made, axis, 0)[zeros:] = np.moveaxis(array, axis, 0)
    return made


def _at_the_end(array: np.ndarray, filling: int, before: int) -> tuple:
    used = -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    pages = -(-used // mmap.PAGESIZE) * mmap.PAGESIZE
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    memory = np.frombuffer(mmap.mmap(-1, pages + mmap.PAGESIZE, flags), np.uint8)
    memory[: pages - used], memory[pages - used : pages] = before, filling
    behind = memory.ctypes.data + pages
    page = ctypes.c_void_p(behind), ctypes.c_size_t(mmap.PAGESIZE)
    ctypes.CDLL(None).mprotect(*page, _NO_ACCESS)
    placed = memory[pages - used :][: array.nbytes].view(array.dtype)
    placed = placed.reshape(array.shape)
    placed[...] = array
    return in_place(placed), behind - used + array.nbytes


def past_the_end(op: Callable, *inputs, **attrs) -> list[int]:
    """How often a call touches the bytes right behind the last element of each input.

    No page can stand in the way there, since a tensor begins at a multiple of 64 bytes. The processor watches them, on
    Linux, in a process that may use `perf_event_open`.

    Args:
      op: The function that calls the op.
      *inputs: Tensors, arrays, or lists of them.
      **attrs: Keyword arguments of the op.

    Raises:
      OSError: The system does not let the process watch addresses, or the processor counts masked loads, too.
    """
    import tensorflow as tf

    if _counts_masked_loads():
        raise OSError(errno.ENOTSUP, "AMD's processors count masked loads, too")
    placed = [_placed(x) for x in tf.nest.flatten(list(inputs))]
    tensors = tf.nest.pack_sequence_as(list(inputs), [tensor for tensor, _ in placed])
    op(*tensors, **attrs)  # starts threads
    counts = [0] * len(placed)
    watched = [i for i, (_, end) in enumerate(placed) if end % _ALIGNMENT]
    for first in range(0, len(watched), _WATCHED):
        some = watched[first : first + _WATCHED]
        with _watching([placed[i][1] for i in some]) as count:
            op(*tensors, **attrs)
        for i, times in zip(some, count):
            counts[i] = times
    return counts


@functools.cache
def _counts_masked_loads() -> bool:
    """Whether a vector load that leaves out an address by its mask counts as a read there.

    AMD's do so for AVX2's vmaskmovps, which oneDNN and Eigen use at the end of a row.
    """
    try:
        return "AuthenticAMD" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


@contextlib.contextmanager
def _watching(addresses: Sequence[int]) -> Iterator[list[int]]:
    """Counts what all threads of this process read and write at some addresses: the list is filled at the end."""
    threads = [int(name) for name in os.listdir("/proc/self/task")]
    opened: list[list[int]] = []
    counts: list[int] = []
    try:
        for address in addresses:
            opened.append([])
            for thread in threads:
                opened[-1].append(_watch(address, thread))
        yield counts
        for some in opened:
            read = [struct.unpack("Q", os.read(event, 8))[0] for event in some]
            counts.append(sum(read))
    finally:
        for event in itertools.chain(*opened):
            os.close(event)


def _watch(address: int, thread: int) -> int:
    """A file that counts what a thread, and those that it starts, read and write there."""
    size = min(8, address & -address)
    attributes = struct.pack(
        "2I5Q2I2Q",
        *(_BREAKPOINT, 72, 0, 0, 0, 0, _INHERIT | _NOT_THE_KERNEL),
        *(0, _READ_OR_WRITE, address, size),
    )
    number = _PERF_EVENT_OPEN.get(platform.machine(), -1)
    libc = ctypes.CDLL(None, use_errno=True)
    numbers = [ctypes.c_long(x) for x in (thread, -1, -1, 8)]  # any CPU; close on exec
    event = libc.syscall(ctypes.c_long(number), attributes, *numbers)
    if event < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"cannot watch addresses: {os.strerror(code)}")
    return event


def left_behind(op: Callable, *inputs, **attrs) -> tuple[int, int]:
    """How many open files and how many bytes a call leaves behind that the op may refuse.

    TensorFlow itself keeps a thousand bytes or so of each call that an op refuses, and the message, which counts not.

    Args:
      op: The function that calls the op.
      *inputs: Tensors, arrays, or lists of them.
      **attrs: Keyword arguments of the op.
    """
    said = 0

    def call() -> None:
        nonlocal said
        try:
            op(*inputs, **attrs)
        except Exception as error:
            said = len(str(error))

    for _ in range(_CALLS):
        call()
    files, held = growth(call, _WINDOWS, _CALLS)
    return files // _CALLS, held // _CALLS - said


def growth(call: Callable, windows: int, times: int) -> tuple[int, int]:
    """By how many open files and allocated bytes this process grows while a call is made so many times.

    The least of some windows counts, since caches grow now and then.
    """
    gc.collect()
    gc.freeze()  # so that collecting again is fast, the next time too
    measured = [_held()]
    for _ in range(windows):
        for _ in range(times):
            call()
        measured.append(_held())
    grown = [
        [new - old for old, new in zip(*both)] for both in itertools.pairwise(measured)
    ]
    files, held = (min(some) for some in zip(*grown))
    return files, held


def _held() -> tuple[int, int]:
    """Open files and allocated bytes of this process, 0 where the system does not say."""
    gc.collect()
    folder = "/proc/self/fd"
    files = len(os.listdir(folder)) if os.path.isdir(folder) else 0
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError):
        return files, 0
    mallinfo2.restype = _MallInfo
    found = mallinfo2()
    return files, found.hblkhd + found.uordblks


class _MallInfo(ctypes.Structure):
    """Of glibc's malloc.h."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks "
        "keepcost".split()
    )
