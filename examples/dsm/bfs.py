"""Breadth-first search: how far is each vertex of a graph from vertex 0? Each node looks after the
vertices of its part, and asks whether a vertex with an edge to one of them was reached in the step
before. usage: bfs.py [VERTICES]"""

import sys

import numpy as np
import weir_dsm as dsm

dsm.start()
count = int(sys.argv[1]) if len(sys.argv) > 1 else 30000
depth = dsm.array(count, "i4")  # 0: not reached
part = dsm.part(count)
mine = np.arange(part.start, part.stop)
sources = [(mine * 5 + 1) % count, (mine * 7 + 3) % count, (mine + count - 1) % count]
if dsm.node() == 0:
    depth[0] = 1
dsm.barrier()
step, news = 1, 1
while news > 0:
    reached = np.any([depth[some] == step for some in sources], axis=0) & (depth[part] == 0)
    dsm.barrier(1)  # all have looked
    depth[mine[reached]] = step + 1
    news = dsm.reduce(int(reached.sum()))  # a barrier too: all have written
    step += 1
own = depth[part]
reached, steps = dsm.reduce([int((own > 0).sum()), int((own[own > 0] - 1).sum())])
if dsm.node() == 0:
    print(f"bfs: {reached} reached, {steps} steps in all")
