"""The files that workloads read, made when they are first needed. Of those in the scratch folder there is one at a time, as a
large one has a gigabyte; a folder of the user's own keeps them all for the next time."""

import os
import shutil
import subprocess

from .case import Misuse

SEED = 7
WORDS, BYTES = 60000, 20_000_000


class Inputs:
    def __init__(self, build, scratch, kept=None):
        self.generate = os.path.join(build, "bench", "generate")
        self.folder, self.keeps, self.now = kept or os.path.join(scratch, "inputs"), bool(kept), None
        os.makedirs(self.folder, exist_ok=True)

    def path(self, wanted):
        """`wanted`: () for none, (kind, size), or ("words", "") for what the compressors read."""
        if not wanted:
            return ""
        path = os.path.join(self.folder, "-".join(filter(None, wanted)))
        if self.now and self.now != path and not self.keeps:
            shutil.rmtree(self.now) if os.path.isdir(self.now) else os.unlink(self.now)
        if not os.path.exists(path):
            new = path + ".new"
            if os.path.isdir(new):
                shutil.rmtree(new)
            if wanted[0] == "words":
                write_words(new)
            else:
                done = subprocess.run([self.generate, *wanted, str(SEED), new], stderr=subprocess.PIPE, text=True)
                if done.returncode:
                    raise Misuse(f"{self.generate} failed: {done.stderr.strip()}")
            os.rename(new, path)
        self.now = path
        return path


def write_words(path):
    """The same 20 MB of words every time."""
    state, words = 1, []

    def draw():
        nonlocal state
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        return state

    for _ in range(WORDS):
        word = draw()
        words.append(f"{word >> 40:x}"[: 1 + (word >> 33) % 6])
    size = 0
    with open(path, "w") as out:
        while size < BYTES:
            numbers = (draw() for _ in range(2000))
            size += out.write(" ".join(words[(n >> 40) * (n >> 20 & 0xFFFFF) % WORDS] for n in numbers) + "\n")
