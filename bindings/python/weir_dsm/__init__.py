"""Distributed shared memory for Python: numpy arrays that all nodes of an MPI job see.

    import weir_dsm as dsm
    dsm.start()
    cells = dsm.array(1000, float)             # one array, on all nodes; zero
    cells[dsm.node()::dsm.nodes()] = dsm.node()
    dsm.barrier()                              # now all see all parts
    if dsm.node() == 0: print(cells.sum())

`python -m weir_dsm.run -n 4 prog.py` starts four nodes. docs/guide/dsm-python.md explains it,
weir/dsm.h has the rules of each call. What no lock, barrier or reduction orders is a race.

Collective functions are called by all nodes in the same order: start, finish, array, collect,
barrier, reduce, broadcast, run, checkpoint, restart. Misuse that this package sees raises; what
only the library can see ends the job with a line that says why. An exception that nobody catches
ends the job too, with its text and the node's number.
"""

import atexit
import os
import pickle
import sys
import threading
import traceback

import numpy as np

from . import _core

__version__ = "0.1.0"

_PROTOCOLS = {"sc": 1, "lrc": 2, "hlrc": 3}
_HOMES = {"block": 0, "cyclic": 1, "first_touch": 2, "explicit": 3}
_OPERATIONS = {"sum": 0, "min": 1, "max": 2}
_PATTERNS = {"static": 0, "dynamic": 1}
_OWN_BARRIER = 0xfffdfffe


class Allocation:
    """What array() has allocated on all nodes; alive while a node has a view of it."""

    def __init__(self, address):
        self.address = address
        self.unused = False  # on this node


class _Memory(_core.Memory):
    """The base of shared arrays: numpy keeps it as long as there is a view."""

    allocation = None

    def __del__(self):
        if self.allocation is not None:
            self.allocation.unused = True


# In the order of the calls of array(), which is the same on all nodes.
_allocations = []


# --- Start and end

_process = None  # that has called start(); what it forks is no node


def start():
    """Collective, before any other call, once in a process. finish() is called at the exit."""
    global _process
    _core.start()
    _process = os.getpid()
    sys.excepthook = _on_exception
    threading.excepthook = lambda thrown: _on_exception(
        thrown.exc_type, thrown.exc_value, thrown.exc_traceback)
    atexit.register(_at_exit)


def finish():
    """Collective. Waits for all nodes; there is no shared memory afterwards."""
    _core.finish()


def abort(status=1, why="weir_dsm.abort()"):
    """Ends the job: every node ends with `status`."""
    _flush()
    _core.abort(status, why)


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass


def _is_node():
    return _core.is_running() and os.getpid() == _process


def _on_exception(kind, value, trace):
    if not _is_node() or kind is SystemExit:
        sys.__excepthook__(kind, value, trace)
        return
    traceback.print_exception(kind, value, trace)
    text = "".join(traceback.format_exception_only(kind, value)).strip()
    where = traceback.extract_tb(trace)
    place = f" ({where[-1].filename}:{where[-1].lineno})" if where else ""
    abort(1, f"a Python exception: {text}{place}")


def _at_exit():
    if _is_node():
        _flush()
        finish()


def node():
    """0 to nodes() - 1"""
    return _core.node()


def nodes():
    return _core.nodes()


def threads():
    """Threads of a node inside run(); else 1."""
    return _core.threads()


def run(body):
    """Collective. Calls body(worker, workers) on WEIR_DSM_THREADS threads of each node."""
    _core.run(body, _on_exception)


def part(count, worker=None, workers=None):
    """The slice of `count` elements that belongs to this node, or to a worker of several."""
    worker = node() if worker is None else worker
    workers = nodes() if workers is None else workers
    return slice(worker * count // workers, (worker + 1) * count // workers)


# --- Memory


def _attributes(name, protocol, home, home_node, pages):
    result = {}
    if protocol is not None:
        result["protocol"] = _value(_PROTOCOLS, "protocol", protocol)
    if home_node is not None:
        if home not in (None, "explicit"):
            raise ValueError("home_node is for home='explicit'")
        if not 0 <= home_node < nodes():
            raise ValueError(f"there is no node {home_node} of {nodes()}")
        home = "explicit"
        result["home_node"] = home_node
    if home is not None:
        result["home"] = _value(_HOMES, "home", home)
    if pages:
        result["pages"] = pages
    if name is None:  # the line that calls array() or local()
        frame = sys._getframe(2)
        name = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
    result["name"] = name
    return result


def _value(table, what, word):
    if word not in table:
        raise ValueError(f"{what} is one of {', '.join(table)}, not {word!r}")
    return table[word]


def _form(shape, dtype):
    """The shape as a tuple, the dtype, and how many bytes they are."""
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f"dtype {dtype} holds Python objects, which belong to one process")
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
    if any(n < 0 for n in shape):
        raise ValueError(f"negative dimensions in {shape}")
    size = dtype.itemsize
    for n in shape:
        size *= int(n)
    if size >= 1 << 47:
        raise MemoryError(f"{size} bytes of shared memory for {shape} of {dtype}")
    return shape, dtype, size


def _view(memory, shape, dtype, order="C", strides=None):
    return np.ndarray(shape, dtype, buffer=memory, order=order, strides=strides)


def array(shape, dtype=float, *, order="C", name=None, protocol=None, home=None, home_node=None,
          pages=0):
    """Collective. One array in shared memory, the same on each node, zero. Raises ValueError on a
    node whose shape, dtype or order are not node 0's.

    Its memory lives while a node has the array or a view of it; the next array() or collect()
    gives it back. `name` is for reports. protocol: lrc, hlrc, sc; home: block, cyclic, first_touch,
    explicit (with home_node); pages: of 4 KiB, of a unit.
    """
    shape, dtype, size = _form(shape, dtype)
    attributes = _attributes(name, protocol, home, home_node, pages)
    if _allocations:
        collect()
    address = _core.allocate(max(size, 1), attributes) if node() == 0 else 0
    address, *first = broadcast((address, shape, dtype, order))
    allocation = Allocation(address)
    _allocations.append(allocation)
    if first != [shape, dtype, order]:
        allocation.unused = True
        raise ValueError(f"an array of shape {shape}, {dtype}, order {order} on node {node()}, "
                         f"while node 0 has {first[0]}, {first[1]}, order {first[2]}")
    memory = _Memory(address, max(size, 1))
    memory.allocation = allocation
    return _view(memory, shape, dtype, order)


def array_of(values, **attributes):
    """Collective. A shared array with node 0's `values`; on other nodes they do not count."""
    values = np.asarray(values) if node() == 0 else None
    if node() == 0 and values.dtype.hasobject:
        raise TypeError(f"dtype {values.dtype} holds Python objects, which belong to one process")
    shape, dtype = broadcast((values.shape, values.dtype) if node() == 0 else None)
    attributes.setdefault("name", None)
    if attributes["name"] is None:
        frame = sys._getframe(1)
        attributes["name"] = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
    result = array(shape, dtype, **attributes)
    if node() == 0:
        result[...] = values
    barrier(_OWN_BARRIER)
    return result


def collect():
    """Collective. Frees the arrays of which no node has a view any more; returns their number."""
    unused = np.array([one.unused for one in _allocations], dtype=np.int64)
    if unused.size == 0:
        return 0
    _core.reduce_int64(unused, _OPERATIONS["min"])
    freed = [one for one, by_all in zip(_allocations, unused) if by_all]
    _allocations[:] = [one for one, by_all in zip(_allocations, unused) if not by_all]
    if node() == 0:
        for one in freed:
            _core.free(one.address)
    return len(freed)


def local(shape, dtype=float, *, order="C", name=None, protocol=None, home=None, home_node=None,
          pages=0):
    """By any node: an array in shared memory. Others get it by attach(handle(array)).

    It stays until a node calls free(), once nobody uses it.
    """
    shape, dtype, size = _form(shape, dtype)
    attributes = _attributes(name, protocol, home, home_node, pages)
    memory = _Memory(_core.allocate(max(size, 1), attributes), max(size, 1))
    return _view(memory, shape, dtype, order)


def _memory_of(of_array):
    base = of_array
    while isinstance(base, np.ndarray):
        base = base.base
    if not isinstance(base, _Memory):
        raise TypeError("this array is not in shared memory")
    return base


def is_shared(of_array):
    try:
        _memory_of(of_array)
    except TypeError:
        return False
    return True


def handle(of_array):
    """What other nodes need for the same view: for broadcast(), or to be stored in an array."""
    memory = _memory_of(of_array)
    offset = of_array.__array_interface__["data"][0] - memory.address
    return (memory.address, memory.size, offset, of_array.shape, of_array.strides, of_array.dtype)


def attach(to_handle):
    """The view of which another node has the handle. It does not keep the memory of array()."""
    address, size, offset, shape, strides, dtype = to_handle
    return np.ndarray(shape, dtype, buffer=_Memory(address, size), offset=offset, strides=strides)


def free(of_array):
    """By any node, of what local() has allocated, once nobody uses it."""
    memory = _memory_of(of_array)
    if memory.allocation is not None:
        raise ValueError("array() has made this array: drop it on all nodes, and call collect()")
    _core.free(memory.address)


def touch(of_array, write=False):
    """Makes an array accessible by one round of messages instead of one for each page."""
    memory = _memory_of(of_array)
    low, high = np.lib.array_utils.byte_bounds(of_array) if hasattr(
        np.lib, "array_utils") else np.byte_bounds(of_array)
    if high > low:
        _core.touch(max(low, memory.address), high - low, write)


# --- Synchronization


class Lock:
    """A lock by its number; `with dsm.Lock(3):` holds it. By tape: it brings what was used under
    it when this node held it last."""

    def __init__(self, number, tape=False):
        self.number, self.tape = number, tape

    def acquire(self, blocking=True):
        if not blocking:
            return _core.trylock(self.number)
        _core.lock(self.number, self.tape)
        return True

    def release(self):
        _core.unlock(self.number)

    def __enter__(self):
        self.acquire()
        return self

    def __exit__(self, *exception):
        self.release()


class Condition:
    """A condition by its number, with the lock that its waiters hold."""

    def __init__(self, number, lock):
        self.number, self.lock = number, lock

    def wait(self):
        _core.wait(self.number, self.lock.number)

    def wait_for(self, predicate):
        while not predicate():
            self.wait()

    def notify(self):
        _core.signal(self.number)

    def notify_all(self):
        _core.broadcast_condition(self.number)


class Semaphore:
    """A semaphore by its number. It starts with 0."""

    def __init__(self, number):
        self.number = number

    def release(self):
        _core.post(self.number)

    def acquire(self):
        _core.take(self.number)


def barrier(number=0, replay=None):
    """Collective. replay: 'static' or 'dynamic', and data travels before it is asked for."""
    _core.barrier(number, -1 if replay is None else _value(_PATTERNS, "replay", replay))


def reduce(value, operation="sum"):
    """Collective. Element by element over all nodes; each node has the result, a new array or
    number. Integers are added as 64 bits and may wrap around, all else as double."""
    code = _value(_OPERATIONS, "operation", operation)
    values = np.array(value)
    if values.dtype.kind == "b" or values.dtype.kind == "i" or (
            values.dtype.kind == "u" and values.dtype.itemsize < 8):
        result = np.ascontiguousarray(values, dtype=np.int64).reshape(-1)
        _core.reduce_int64(result, code)
    elif values.dtype.kind == "f" and values.dtype.itemsize <= 8:
        result = np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
        _core.reduce_double(result, code)
    else:
        raise TypeError(f"reductions are of integers up to 64 bits and floats, not {values.dtype}")
    return result[0].item() if values.ndim == 0 else result.reshape(values.shape)


def broadcast(value, root=0):
    """Collective. What node `root` has, on each node: anything that pickle can take."""
    mine = pickle.dumps(value, protocol=5) if node() == root else b""
    return pickle.loads(_core.broadcast(mine, root))


class produce:
    """with dsm.produce(): what is written comes as a whole to a node that asks for any of it."""

    def __enter__(self):
        _core.produce_start()

    def __exit__(self, *exception):
        _core.produce_end()


class flush:
    """with dsm.flush(): what is written goes to all nodes."""

    def __enter__(self):
        _core.flush_start()

    def __exit__(self, *exception):
        _core.flush_end()


# --- Counters and checkpoints


def counters(total=False):
    """This node's counters since the start or counters_reset(); total=True: collective, of all."""
    return _core.counters(total)


def counters_reset():
    _core.counters_reset()


def checkpoint(directory, **arrays):
    """Collective. Writes all shared memory to a directory, and which of array()'s arrays has which
    name. OSError: it was not written, and an earlier one there stands."""
    for name, one in arrays.items():
        if _memory_of(one).allocation is None:
            raise ValueError(f"{name} was not made by array()")
    root = 0
    if node() == 0:  # in the memory that is written, so that both are of one time
        text = pickle.dumps({name: handle(one) for name, one in arrays.items()})
        kept = local(8 + len(text), np.uint8, name="names of a checkpoint")
        kept[:8] = np.frombuffer(len(text).to_bytes(8, "little"), np.uint8)
        kept[8:] = np.frombuffer(text, np.uint8)
        root = _memory_of(kept).address
    error = _core.checkpoint(os.fspath(directory), root)
    if node() == 0:
        _core.free(root)
    if error:
        raise OSError(error, os.strerror(error), os.fspath(directory))


def restart(directory):
    """Collective, right after start(). The arrays of the last checkpoint by their names, or None
    if there is none. Of other memory that was written, nothing is known, and it stays."""
    root = _core.restart(os.fspath(directory))
    if root == 0:
        return None
    size = int.from_bytes(bytes(_core.Memory(root, 8)), "little")
    handles = pickle.loads(bytes(_core.Memory(root + 8, size)))
    barrier(_OWN_BARRIER)  # all have read it
    if node() == 0:
        _core.free(root)
    allocations = {}
    result = {}
    for name, form in handles.items():
        address, size, offset, shape, strides, dtype = form
        if address not in allocations:
            allocations[address] = _Memory(address, size)
            allocations[address].allocation = Allocation(address)
            _allocations.append(allocations[address].allocation)
        result[name] = np.ndarray(shape, dtype, buffer=allocations[address], offset=offset,
                                  strides=strides)
    return result
