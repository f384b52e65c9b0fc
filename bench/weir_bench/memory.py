"""Memory of a program with all its processes: threads are processes under Weir, so no one process's figure will do.

What is counted, at one moment: the proportional set size of every process (private pages count whole, a page that n processes
have mapped counts 1/n in each), and in addition pages of memory files (memfd) that none of them has mapped at that moment, as
they too are memory that the program holds. The peak is the largest of what was seen at many moments, so a peak of less than a
few milliseconds may be missed; looking disturbs the program, so it is not done in runs whose time is taken."""

import os
import time

PAUSE = 0.002  # seconds between two looks, in the long run


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # it has ended
        return b""


def alive(pid):
    state = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return bool(state) and state[0] not in (b"Z", b"X")


def children(pid):
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [int(child) for thread in threads for child in read(f"/proc/{pid}/task/{thread}/children").split()]


def descendants(pid):
    found = children(pid)
    for child in found:  # grows while it is walked
        found += children(child)
    return found


def memory_files(pid):
    """{(device, inode): bytes allocated}"""
    found = {}
    folder = f"/proc/{pid}/fd"
    try:
        for name in os.listdir(folder):
            path = f"{folder}/{name}"
            if os.readlink(path).startswith("/memfd:"):
                status = os.stat(path)
                found[status.st_dev, status.st_ino] = status.st_blocks * 512
    except OSError:
        pass
    return found


def held_by(processes):
    """Bytes."""
    total = shared = 0
    files = {}
    for process in processes:
        for line in read(f"/proc/{process}/smaps_rollup").splitlines():
            if line.startswith(b"Pss:"):
                total += int(line.split()[1]) << 10
            elif line.startswith(b"Pss_Shmem:"):
                shared += int(line.split()[1]) << 10
        files.update(memory_files(process))
    return total + max(0, sum(files.values()) - shared)


class Watch:
    def __init__(self, pid):
        self.pid, self.peak, self.start = pid, 0, time.monotonic()

    def look(self):
        """Returns after how many seconds to look again."""
        self.peak = max(self.peak, held_by([self.pid] + descendants(self.pid)))
        return min(PAUSE, (time.monotonic() - self.start) / 20)
