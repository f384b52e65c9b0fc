"""A pool of tasks: who has nothing to do takes the next number under a lock. A task is a way to put
queens into the first two rows of a chess board; its result is the number of ways to go on.
usage: tasks.py [ROWS]"""

import sys

import weir_dsm as dsm


def ways(everything, columns, left, right):
    """Bits: columns and diagonals that are taken, shifted from row to row."""
    if columns == everything:
        return 1
    total, free = 0, everything & ~(columns | left | right)
    while free:
        queen = free & -free
        total += ways(everything, columns | queen, (left | queen) << 1, (right | queen) >> 1)
        free &= free - 1
    return total


dsm.start()
rows = int(sys.argv[1]) if len(sys.argv) > 1 else 9
following, lock, total = dsm.array(1, int), dsm.Lock(0, tape=True), 0
while True:
    with lock:
        task = int(following[0])
        following[0] += 1
    if task >= rows * rows:
        break
    first, second = 1 << task // rows, 1 << task % rows
    if not second & (first | first << 1 | first >> 1):
        total += ways((1 << rows) - 1, first | second, (first << 1 | second) << 1,
                      (first >> 1 | second) >> 1)
total = dsm.reduce(total)
if dsm.node() == 0:
    print(f"tasks: {total} ways for {rows} queens")
