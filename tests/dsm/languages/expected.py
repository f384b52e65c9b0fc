"""What the programs of examples/dsm must print, computed in another way and by one process.
usage: expected.py heat|kmeans|bfs|histogram|cg|tasks SIZE [STEPS]"""

import itertools
import math
import sys
from collections import deque


def heat(n, steps):
    now = [[100.0 if i == 0 else 0.0] * n for i in range(n)]
    for _ in range(steps):
        now = [[now[i][j] if i in (0, n - 1) or j in (0, n - 1) else
                (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]) / 4
                for j in range(n)] for i in range(n)]
    return f"heat: {math.fsum(map(math.fsum, now)) / n / n:.4f} in the mean"


def kmeans(count):
    points = [(i * 7919 % 1000, i * i % 997) for i in range(count)]
    centres = [points[c * (count // 8)] for c in range(8)]
    for _ in range(10):
        members, inertia = [[] for _ in centres], []
        for point in points:
            distances = [(x - point[0]) ** 2 + (y - point[1]) ** 2 for x, y in centres]
            inertia.append(min(distances))
            members[distances.index(min(distances))].append(point)
        centres = [(sum(x for x, _ in own) / len(own), sum(y for _, y in own) / len(own)) if own
                   else centre for own, centre in zip(members, centres)]
    return f"kmeans: inertia {math.fsum(inertia) / count:.2f} a point"


def bfs(count):
    """Forward from vertex 0, by a queue."""
    targets = [[] for _ in range(count)]
    for vertex in range(count):
        for source in ((vertex * 5 + 1) % count, (vertex * 7 + 3) % count, (vertex - 1) % count):
            targets[source].append(vertex)
    depth, queue = {0: 0}, deque([0])
    while queue:
        vertex = queue.popleft()
        for target in targets[vertex]:
            if target not in depth:
                depth[target] = depth[vertex] + 1
                queue.append(target)
    return f"bfs: {len(depth)} reached, {sum(depth.values())} steps in all"


def histogram(count):
    counts = [0] * 256
    for i in range(count):
        top = (i * 2654435761) % 2**32 // 2**16
        counts[(top // 256) * (top % 256) // 255] += 1
    most = counts.index(max(counts))
    weighed = sum(i * n for i, n in enumerate(counts))
    return f"histogram: most often {most} ({counts[most]} times), sum {weighed}"


def cg(n):
    """By elimination: the matrix is tridiagonal."""
    diagonal, right = [2.01], [1.0]
    for i in range(1, n):
        diagonal.append(2.01 - 1 / diagonal[i - 1])
        right.append(1 + right[i - 1] / diagonal[i - 1])
    x = [right[-1] / diagonal[-1]]
    for i in range(n - 2, -1, -1):
        x.append((right[i] + x[-1]) / diagonal[i])
    return f"cg: {math.fsum(x) / n:.4f} in the mean"


def tasks(rows):
    """All permutations of columns in which no two queens share a diagonal."""
    ways = sum(len({c + r for r, c in enumerate(p)}) == rows == len({c - r for r, c in enumerate(p)})
               for p in itertools.permutations(range(rows)))
    return f"tasks: {ways} ways for {rows} queens"


print(globals()[sys.argv[1]](*map(int, sys.argv[2:])))
