"""Heat in a square plate whose upper edge is hot: each cell becomes the mean of its neighbours.
Each node has a band of rows; the barrier brings the rows at the bands' edges.
usage: heat.py [CELLS [STEPS]]"""

import sys

import weir_dsm as dsm

dsm.start()
n = int(sys.argv[1]) if len(sys.argv) > 1 else 128
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 100
now, after = dsm.array((n, n)), dsm.array((n, n))
rows = dsm.part(n)
inner = slice(max(rows.start, 1), min(rows.stop, n - 1))
above, below = slice(inner.start - 1, inner.stop - 1), slice(inner.start + 1, inner.stop + 1)
if rows.start == 0:
    now[0] = after[0] = 100
dsm.barrier()
for step in range(steps):
    if inner.start < inner.stop:
        after[inner, 1:-1] = (
            now[above, 1:-1] + now[below, 1:-1] + now[inner, :-2] + now[inner, 2:]) / 4
    dsm.barrier(1, replay="static")
    now, after = after, now
total = dsm.reduce(now[rows].sum())
if dsm.node() == 0:
    print(f"heat: {total / n / n:.4f} in the mean")
