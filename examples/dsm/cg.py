"""Conjugate gradients: the temperature in a rod that is heated evenly and cold at both ends, from
A x = 1 with A = tridiagonal(-1, 2.01, -1). The direction p is shared, as neighbours read it;
the rest is each node's own. usage: cg.py [UNKNOWNS]"""

import sys

import numpy as np
import weir_dsm as dsm

dsm.start()
n = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
whole = dsm.array(n + 2)  # zero before and behind
part = dsm.part(n)
p = whole[part.start + 1:part.stop + 1]
before, behind = whole[part.start:part.stop], whole[part.start + 2:part.stop + 2]
x, r = np.zeros(len(p)), np.ones(len(p))
p[:] = r
old = dsm.reduce(r @ r)
for step in range(1000):
    if old ** 0.5 <= 1e-9:
        break
    dsm.barrier(0, replay="static")
    q = 2.01 * p - before - behind
    alpha = old / dsm.reduce(p @ q)  # a barrier too: all have read p
    x += alpha * p
    r -= alpha * q
    now = dsm.reduce(r @ r)
    p[:] = r + now / old * p
    old = now
total = dsm.reduce(x.sum())
if dsm.node() == 0:
    print(f"cg: {total / n:.4f} in the mean")
