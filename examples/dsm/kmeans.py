"""k-means: points in the plane go to the nearest of eight centres, and each centre to the mean of
its points. Points are shared and read-only; sums are a reduction. usage: kmeans.py [POINTS]"""

import sys

import numpy as np
import weir_dsm as dsm

dsm.start()
count = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
points = dsm.array((count, 2))
mine = dsm.part(count)
numbers = np.arange(mine.start, mine.stop)
points[mine, 0], points[mine, 1] = numbers * 7919 % 1000, numbers * numbers % 997
dsm.barrier()
centres = np.array([points[c * (count // 8)] for c in range(8)])
for _ in range(10):
    distances = ((points[mine][:, None] - centres) ** 2).sum(axis=2)
    nearest = distances.argmin(axis=1)
    members = np.bincount(nearest, minlength=8)
    x, y = (np.bincount(nearest, weights=points[mine, axis], minlength=8) for axis in (0, 1))
    x, y, members = dsm.reduce(np.array([x, y, members]))
    inertia = dsm.reduce(distances.min(axis=1).sum())
    used = members > 0
    centres[used] = np.stack([x[used], y[used]], axis=1) / members[used, None]
if dsm.node() == 0:
    print(f"kmeans: inertia {inertia / count:.2f} a point")
