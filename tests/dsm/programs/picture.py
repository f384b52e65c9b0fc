# A picture by tasks that threads of all nodes take under a lock, a statistic under another, and
# linear algebra on shared arrays.
import threading

import numpy as np

import weir_dsm as dsm

dsm.start()
me, nodes = dsm.node(), dsm.nodes()
WIDTH, HEIGHT = 120, 90


def row(y):
    c = np.linspace(-2, 1, WIDTH) + 1j * (y / HEIGHT * 2 - 1)
    z, steps = np.zeros_like(c), np.zeros(WIDTH, np.int32)
    for _ in range(60):
        inside = np.abs(z) <= 2
        z[inside] = z[inside] ** 2 + c[inside]
        steps += inside
    return steps


picture = dsm.array((HEIGHT, WIDTH), np.int32)
state = dsm.array(3, np.int64)  # next row, rows done, sum
take, count = dsm.Lock(1, tape=True), dsm.Lock(2)


def work():
    while True:
        with take:
            y = int(state[0])
            state[0] += 1
        if y >= HEIGHT:
            return
        picture[y] = row(y)
        with count:
            state[1] += 1
            state[2] += picture[y].sum()


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
dsm.barrier(1)
expected = np.array([row(y) for y in range(HEIGHT)])
right = np.array_equal(picture, expected) and state[1] == HEIGHT and state[2] == expected.sum()

# Jacobi's method, columns of a matrix in Fortran's order, exact with integers as floats.
n = 60
a = dsm.array((n, n), float, order="F")
mine = dsm.part(n)
for j in range(mine.start, mine.stop):
    a[:, j] = np.arange(n) % (j + 2)
dsm.barrier(2)
x = dsm.array(n, float)
for step in range(5):
    y = a[mine] @ np.full(n, step + 1.0)
    total = dsm.reduce(y.sum(), "sum")
    x[mine] = y
    dsm.barrier(3, replay="static")
    full = np.array([[i % (j + 2) for j in range(n)] for i in range(n)], float)
    full = full @ np.full(n, step + 1.0)
    right = right and np.array_equal(x, full) and total == full.sum()
    dsm.barrier(4, replay="dynamic")
words = dsm.broadcast({"from": me, "list": list(range(me + 3))}, root=nodes - 1)
right = right and words == {"from": nodes - 1, "list": list(range(nodes + 2))}
wrong = dsm.reduce(0 if right else 1, "sum")
if me == 0:
    print("picture:", "right" if wrong == 0 else "WRONG", flush=True)
