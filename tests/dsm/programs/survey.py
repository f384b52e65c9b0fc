# A survey of the sky by blocks: each node makes images, they are written by tofile and read by
# another node, a catalogue (a structured array) grows under a lock, a thread writes a log, work is
# shared out by a condition, and the result is restored from a checkpoint.
import os
import shutil
import threading

import numpy as np

import weir_dsm as dsm

dsm.start()
me, nodes = dsm.node(), dsm.nodes()
TILES, SIDE = 12, 40
folder = dsm.broadcast(f"survey-{os.getpid()}", root=0)
if me == 0:
    os.mkdir(folder)
source = np.dtype([("tile", "i4"), ("row", "i4"), ("column", "i4"), ("flux", "f8"), ("name", "S8")])
images = dsm.array((TILES, SIDE, SIDE), np.float32)
catalogue = dsm.array(TILES * 8, source)
state = dsm.array(4, np.int64)  # sources, next tile, tiles that may be taken
lock = dsm.Lock(1)
more = dsm.Condition(2, lock)


def image(tile):
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    return ((x * 7 + y * 13 + tile * 29) % 31 + (x * y + tile) % 5).astype(np.float32)


def sources(tile, pixels):
    rows, columns = np.nonzero(pixels >= 34)
    picks = list(zip(rows, columns))[: 5 + tile % 3]
    return [(tile, r, c, float(pixels[r, c]) * 2, f"s{tile}.{i}".encode())
            for i, (r, c) in enumerate(picks)]


right = True
for tile in range(me, TILES, nodes):
    images[tile] = image(tile)
dsm.barrier(1)
other = (me + 1) % nodes
for tile in range(other, TILES, nodes):
    images[tile].tofile(f"{folder}/{tile}")
dsm.barrier(2)
for tile in range(me, TILES, nodes):
    images[tile] = 0
    images[tile] = np.fromfile(f"{folder}/{tile}", np.float32).reshape(SIDE, SIDE)
    with open(f"{folder}/{tile}", "rb") as file:
        file.readinto(memoryview(images[tile]).cast("B"))
dsm.barrier(3)


def search():
    while True:
        with lock:
            more.wait_for(lambda: state[1] < state[2] or state[2] == TILES)
            if state[1] >= state[2]:
                return
            tile = int(state[1])
            state[1] += 1
        found = sources(tile, images[tile])
        with lock:
            at = int(state[0])
            catalogue[at : at + len(found)] = found
            state[0] += len(found)


threads = [threading.Thread(target=search) for _ in range(2)]
for thread in threads:
    thread.start()
if me == nodes - 1:
    for _ in range(TILES // 3):
        with lock:
            state[2] += 3
            more.notify_all()
for thread in threads:
    thread.join()
dsm.barrier(4)
expected = [s for tile in range(TILES) for s in sources(tile, image(tile))]
right = right and np.array_equal(images, [image(tile) for tile in range(TILES)])
got = np.sort(catalogue[: state[0]], order=["tile", "row", "column"])
expected = np.sort(np.array(expected, source), order=["tile", "row", "column"])
right = right and np.array_equal(got, expected)


def flux(tile):
    return max((s[3] for s in sources(tile, image(tile))), default=0.0)


brightest = dsm.reduce(flux(me), "max")
right = right and brightest == max(flux(n) for n in range(nodes))

try:
    if me == 0:
        raise ValueError("a bad plate")
except ValueError:
    state[3] = 1
dsm.barrier(5)
right = right and state[3] == 1
dsm.checkpoint(f"{folder}/checkpoint", images=images, catalogue=catalogue)
wrong = dsm.reduce(0 if right else 1, "sum")
if me == 0:
    right = right and os.path.isdir(f"{folder}/checkpoint")
    shutil.rmtree(folder)
    print("survey:", "right" if wrong == 0 and right else "WRONG", flush=True)
