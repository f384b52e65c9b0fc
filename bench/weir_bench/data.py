"""The files beside this package: what papers and peers report (papers/*.json), and what is aimed at (targets.json)."""

import functools
import json
import os

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def version():
    """Of an installed Weir; "": this is a source tree."""
    path = os.path.join(BENCH, "version")
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


@functools.cache
def papers():
    """Every table of figures, with the paper and the machine that it is from."""
    folder = os.path.join(BENCH, "papers")
    tables = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            paper = load(os.path.join(folder, name))
            tables += [{**table, "paper": paper["paper"], "machine": paper["machine"]} for table in paper["tables"]]
    return tables


@functools.cache
def targets():
    return load(os.path.join(BENCH, "targets.json"))


def reported(table, case):
    """(what the table says of the program, with how many threads): as many as the case has, or the only number that the table
    has; (None, None): nothing."""
    counts = table["threads"]
    count = str(case.threads) if str(case.threads) in counts else next(iter(counts)) if len(counts) == 1 else None
    if not case.of_papers or not count or case.name not in counts[count]:
        return None, None
    return counts[count][case.name], int(count)


def beside(point, cases):
    """The tables whose figures runs of these cases at `point` are compared with."""
    return [
        table
        for table in papers()
        if table.get("point") == point and any(reported(table, case)[0] is not None for case in cases)
    ]


def for_counter(counter):
    return next((table for table in papers() if table.get("counter") == counter), None)
