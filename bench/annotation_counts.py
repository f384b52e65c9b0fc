#!/usr/bin/env python3
"""How much the ten programs of PUSh's evaluation had to be annotated, beside the paper's figures (table 1).

usage: annotation_counts.py

Lines of code are those that are neither blank nor comments, without the lines that are counted beside them. An annotation is a line that says or changes a
policy (a call of weir/weir.h that weir-cc leaves in; weir_alloc where malloc would do, too). "by index": lines that reach an element of a sliced array
(weir_array_at), which the paper had a script change. "changes": lines that are there, or otherwise than they would be, for the policies' sake alone.
"""
import re
from pathlib import Path

WORKLOADS = Path(__file__).resolve().parent / "workloads"
# name, the paper's name, its lines, annotations, changes; sources here beside NAME.c or NAME/*; changes here
PROGRAMS = [
    ("ctrace", "ctrace", 859, 13, 7, [], 1),
    ("pfscan", "pfscan", 753, 19, 8, ["bounded_queue.h", "scratch.h"], 0),
    ("pbzip2", "pbzip2", 7410, 31, 0, ["bounded_queue.h"], 0),
    ("fft", "fft", 723, 33, 0, [], 0),
    ("streamcluster", "streamcluster", 1097, 159, 0, [], 14),
    ("blackscholes", "blackscholes", 294, 18, 0, [], 0),
    ("swaptions", "swaptions", 1099, 14, 0, [], 1),
    ("ferret", "ferret", 9663, 80, 9, ["bounded_queue.h"], 3),
    ("webserver", "nullhttpd", 1348, 3, 0, ["bounded_queue.h", "scratch.h"], 14),
    ("cache", "memcached", 3552, 43, 3, [], 31),
]


def code_of(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    lines = [re.sub(r"//.*", "", line).strip() for line in text.splitlines()]
    return [line for line in lines if line and "PLANTED(" not in line and "weir/weir.h" not in line]


def main():
    print(f"{'program':14} {'lines':>6} {'annotations':>16} {'by index':>9} {'changes':>8}   the paper: lines, annotations, changes")
    for name, papers, lines, annotations, changes, more, changes_here in PROGRAMS:
        folder = WORKLOADS / name
        sources = sorted(folder.iterdir()) if folder.is_dir() else [WORKLOADS / f"{name}.c"]
        code = [line for path in sources + [WORKLOADS / other for other in more] for line in code_of(path)]
        found = [line for line in code if re.search(r"\bweir_(?!array_at\b)\w+\(|WEIR_[A-Z]", line)]
        by_index = [line for line in code if "weir_array_at(" in line]
        count = len(code) - len(found)
        print(f"{name:14} {count:6} {len(found):6} = {100 * len(found) / count:5.1f} % {len(by_index):9} {changes_here:8}   "
              f"{papers}: {lines}, {annotations} = {100 * annotations / lines:.1f} %, {changes}")


main()
