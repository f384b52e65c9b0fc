"""Each part of weir_dsm on any number of nodes. usage: arrays.py [FOLDER]"""

import gc
import os
import socket
import sys
import tempfile
import threading

import numpy as np
import weir_dsm as dsm


def raises(kind, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as error:
        return str(error)
    raise AssertionError(f"{call.__name__}{arguments} raises no {kind.__name__}")


def same(left, right, what):
    if not np.array_equal(left, right):
        raise AssertionError(f"{what}: {left} is not {right}")


assert "start()" in raises(RuntimeError, dsm.node)
assert "start()" in raises(RuntimeError, dsm.array, 3)
dsm.start()
assert "once" in raises(RuntimeError, dsm.start)
me, all_nodes = dsm.node(), dsm.nodes()


def check_arrays():
    for dtype in ("?", "i1", "u2", "i4", "i8", "f4", "f8", "c16", "S5", "M8[s]",
                  [("x", "f4"), ("y", "i8")]):
        for order in "CF":
            one = dsm.array((3, 4, 5), dtype, order=order, name=f"of {order}")
            assert one.dtype == np.dtype(dtype) and one.shape == (3, 4, 5)
            assert one.flags.c_contiguous == (order == "C") and dsm.is_shared(one[1])
            same(one, np.zeros((3, 4, 5), dtype), dtype)
    rows = dsm.array((all_nodes * 3, 700))
    rows[dsm.part(all_nodes * 3)] = me + 1
    dsm.barrier()
    same(rows.sum(), 700 * 3 * all_nodes * (all_nodes + 1) // 2, "the sum of all parts")
    empty = dsm.array((0, 7), "f4")
    assert empty.shape == (0, 7) and dsm.array((), int).shape == ()
    given = dsm.array_of(np.arange(10) ** 2 if me == 0 else None)
    same(given, np.arange(10) ** 2, "array_of")
    assert "Python objects" in raises(TypeError, dsm.array, 3, object)
    assert "negative" in raises(ValueError, dsm.array, (2, -1))
    assert "one of" in raises(ValueError, dsm.array, 3, protocol="fast")
    assert "no node" in raises(ValueError, dsm.array, 3, home_node=all_nodes)
    raises(MemoryError, dsm.array, 1 << 60)
    assert not dsm.is_shared(np.zeros(3))
    for protocol in ("lrc", "hlrc", "sc"):
        counter = dsm.array(2, "i8", protocol=protocol, home="explicit", home_node=all_nodes - 1)
        with dsm.Lock(9):
            counter[0] += me
        dsm.barrier()
        same(counter[0], all_nodes * (all_nodes - 1) // 2, protocol)


def check_lifetime():
    """Memory stays while any node has a view, and is given back when none has."""
    dsm.collect()
    one = dsm.array((100, 100))
    if me == 0:
        one[5, 5] = 7
    view = one.T[5] if me == all_nodes - 1 else None
    del one
    gc.collect()
    assert dsm.collect() == 0, "a view's memory was freed"
    dsm.barrier()
    if view is not None:
        same(view[5], 7, "the view")
    del view
    gc.collect()
    assert dsm.collect() == 1, "unused memory was not freed"


def check_handles():
    mine = dsm.local((4, 5), "i4", name="of node 0") if me == 0 else None
    if me == 0:
        mine[...] = np.arange(20).reshape(4, 5)
    there = dsm.attach(dsm.broadcast(dsm.handle(mine[1:, ::2]) if me == 0 else None))
    same(there, np.arange(20).reshape(4, 5)[1:, ::2], "an attached view")
    dsm.touch(there)
    dsm.barrier()
    if me == 0:
        dsm.free(mine)
    assert "collect" in raises(ValueError, dsm.free, dsm.array(3))
    raises(TypeError, dsm.handle, np.zeros(3))


def check_locks():
    count = dsm.array(1, int)
    lock = dsm.Lock(3, tape=True)
    for _ in range(50):
        with lock:
            count[0] += 1
    dsm.barrier(1)
    same(count[0], 50 * all_nodes, "a count under a lock")
    with lock:
        assert "already" in raises(RuntimeError, lock.acquire)
        assert "holds lock 3" in raises(RuntimeError, dsm.barrier)
        assert "holds lock 3" in raises(RuntimeError, dsm.reduce, 1)
    assert "not hold" in raises(RuntimeError, lock.release)
    try:
        with lock:
            raise KeyError("inside")
    except KeyError:
        pass
    mine = dsm.Lock(100 + me)
    assert mine.acquire(blocking=False) and not mine.acquire(blocking=False)
    mine.release()
    held = threading.Thread(target=lambda: raises(RuntimeError, lock.release))
    held.start()
    held.join()
    # A thread that waits for a lock leaves the interpreter to the others.
    dsm.barrier(1)
    order = dsm.array(1, int)
    condition, semaphore = dsm.Condition(5, dsm.Lock(6)), dsm.Semaphore(7)
    with condition.lock:
        condition.wait_for(lambda: order[0] == me)
        order[0] += 1
        condition.notify_all()
    assert "not held" in raises(RuntimeError, condition.wait)
    if me == all_nodes - 1:
        for _ in range(all_nodes):
            semaphore.release()
    semaphore.acquire()
    dsm.barrier(2)
    same(order[0], all_nodes, "turns by a condition")


def check_reductions():
    total = all_nodes * (all_nodes - 1) // 2
    assert dsm.reduce(me) == total and isinstance(dsm.reduce(me), int)
    assert dsm.reduce(me + 0.5) == total + 0.5 * all_nodes
    assert dsm.reduce(np.float32(me), "max") == all_nodes - 1
    assert dsm.reduce(True) == all_nodes and dsm.reduce(-me, "min") == 1 - all_nodes
    big = np.arange(5000).reshape(50, 100)
    same(dsm.reduce(big), big * all_nodes, "a reduction in pieces")
    same(dsm.reduce(big.T[:, ::2] * 1.0, "min"), big.T[:, ::2], "a reduction of a view")
    raises(TypeError, dsm.reduce, 1j)
    raises(TypeError, dsm.reduce, np.uint64(3))
    raises(ValueError, dsm.reduce, 3, "product")
    for root in range(all_nodes):
        text = dsm.broadcast({"from": me, "more": b"x" * 200000}, root)
        assert text["from"] == root and len(text["more"]) == 200000
    raises(ValueError, dsm.broadcast, 1, all_nodes)


def check_run():
    seen = dsm.array(64, int)

    def body(worker, workers):
        seen[worker] = workers
        dsm.barrier(4)
        same(seen[:workers], [workers] * workers, "workers")

    dsm.run(body)
    assert dsm.threads() == 1


def check_tapes_and_counters():
    dsm.counters_reset()
    grid = dsm.array((all_nodes, 512))
    for step in range(5):
        grid[me] = step
        dsm.barrier(20, replay="static")
        same(grid[(me + 1) % all_nodes], np.full(512, step), "a neighbour")
        dsm.barrier(21, replay="dynamic")
    with dsm.produce():
        grid[me] = 1
    with dsm.flush():
        grid[me, 0] = 2
    dsm.barrier(22)
    same(grid[:, 0], np.full(all_nodes, 2.0), "what was flushed")
    assert dsm.counters()["write_faults"] > 0
    assert dsm.counters(total=True)["misses"] >= dsm.counters()["misses"]


def check_files(folder):
    """numpy and Python write and read shared memory as any other."""
    numbers = dsm.array(30000, "i8")
    numbers[dsm.part(30000)] = np.arange(30000)[dsm.part(30000)]
    dsm.barrier(30)
    path = os.path.join(folder, f"numbers-{me}")
    with open(path, "wb") as file:
        file.write(memoryview(numbers).cast("B"))
    same(np.fromfile(path, "i8"), np.arange(30000), "what was written")
    back = dsm.array(30000, "i8")
    if me == all_nodes - 1:
        with open(path, "rb") as file:
            assert file.readinto(memoryview(back).cast("B")) == back.nbytes
    dsm.barrier(31)
    same(back, numbers, "what was read")
    check_numpy_files(folder, numbers)


def check_numpy_files(folder, numbers):
    """Each time the last node has written the array, so that it is not accessible here."""
    path = os.path.join(folder, f"file-{me}")
    grid = dsm.array((60, 500), order="F")
    record = dsm.array(2000, [("number", "i4"), ("text", "S7")])

    def written(write, read, of, what):
        dsm.barrier(32)
        if me == all_nodes - 1:
            of[...] = of[::-1].copy()
        dsm.barrier(33)
        write(of)
        same(read(), of, what)

    if me == all_nodes - 1:
        grid[...] = np.arange(30000).reshape(60, 500)
        record["number"] = np.arange(2000)
        record["text"] = [b"%d" % number for number in range(2000)]
    written(lambda a: a.tofile(path), lambda: np.fromfile(path, "i8"), numbers, "tofile")
    written(lambda a: a.tofile(path), lambda: np.fromfile(path).reshape(60, 500), grid,
            "tofile by columns")
    written(lambda a: a.tofile(path), lambda: np.fromfile(path, "i8"), numbers[::3],
            "tofile of a part")
    for of in (numbers, grid, grid[3:50, ::7], record):
        npy, npz = path + ".npy", path + ".npz"
        written(lambda a: np.save(npy, a), lambda: np.load(npy), of, "np.save")
        written(lambda a: np.save(npy, a), lambda: np.load(npy, mmap_mode="r"), of, "a mapped file")
        written(lambda a: np.savez_compressed(npz, a=a), lambda: np.load(npz)["a"], of, "np.savez")
    back = dsm.array((60, 500))
    np.save(path + ".npy", grid)
    for mode in (None, "r"):
        dsm.barrier(34)
        if me == 0:
            back[...] = np.load(path + ".npy", mmap_mode=mode)
        dsm.barrier(35)
        same(back, grid, "np.load")
        dsm.barrier(36)
        back[me % 60] = 0
    ends = socket.socketpair()
    dsm.barrier(37)
    if me == all_nodes - 1:
        numbers[...] = np.arange(30000)
        back[...] = 0
    dsm.barrier(38)
    sender = threading.Thread(target=ends[0].sendall, args=(memoryview(numbers).cast("B"),))
    sender.start()
    into = memoryview(back).cast("B")
    at = 0
    while me == 0 and at < numbers.nbytes:
        at += ends[1].recv_into(into[at : at + 20000])
    while me > 0 and at < numbers.nbytes:
        at += len(ends[1].recv(20000))
    sender.join()
    dsm.barrier(39)
    same(back.reshape(-1).view("i8"), np.arange(30000), "recv_into")


def check_checkpoint(folder):
    grid, step = dsm.array((50, 60), name="grid"), dsm.array((), int)
    if me == 0:
        grid[...] = np.arange(3000).reshape(50, 60)
        step[...] = 17
    dsm.checkpoint(folder, grid=grid, edge=grid[:, 59], step=step)
    raises(ValueError, dsm.checkpoint, folder, grid=dsm.attach(dsm.handle(grid)))


def again(folder):
    """The second start: what the first has kept."""
    kept = dsm.restart(folder)
    same(kept["grid"], np.arange(3000).reshape(50, 60), "the grid of the checkpoint")
    same(kept["edge"], kept["grid"][:, 59], "the view of the checkpoint")
    assert int(kept["step"]) == 17
    del kept
    gc.collect()
    assert dsm.collect() == 2


if len(sys.argv) > 2:
    again(sys.argv[1])
else:
    check_arrays()
    check_lifetime()
    check_handles()
    check_locks()
    check_reductions()
    check_run()
    check_tapes_and_counters()
    check_files(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    if len(sys.argv) > 1:
        check_checkpoint(sys.argv[1])
if me == 0:
    print(f"python: {all_nodes} nodes: well")
