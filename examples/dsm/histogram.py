"""Histogram: how often does each byte occur? Each node counts its part of the data, and adds what
it has counted under a lock. usage: histogram.py [BYTES]"""

import sys

import numpy as np
import weir_dsm as dsm

dsm.start()
count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
bins = dsm.array(256, int)
mine = dsm.part(count)
hashes = np.arange(mine.start, mine.stop) * 2654435761 & 0xffffffff
own = np.bincount((hashes >> 24) * (hashes >> 16 & 255) // 255, minlength=256)
with dsm.Lock(0):
    bins += own
dsm.barrier()
if dsm.node() == 0:
    most = int(bins.argmax())
    weighed = int((np.arange(256) * bins).sum())
    print(f"histogram: most often {most} ({bins[most]} times), sum {weighed}")
