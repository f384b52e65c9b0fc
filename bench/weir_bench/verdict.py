"""Means, and which targets are met."""

import dataclasses

from . import data, figures
from .case import BASE
from .measure import CPU, MEMORY, WALL


@dataclasses.dataclass
class Mean:
    threads: int
    column: str
    wall: float
    cpu: float
    memory: float
    programs: int  # in the means
    without: list  # titles of those that have no figure


@dataclasses.dataclass
class Verdict:
    what: str
    threads: int  # 0: several
    column: str
    value: float  # None: there is no figure
    at_most: float
    why: str = ""  # there is none

    @property
    def met(self):
        return self.value is not None and self.value <= self.at_most


def columns_of(results):
    """Names of all columns but the native one, in the order in which they were asked for."""
    return list(dict.fromkeys(name for result in results for name in result.cells if name != BASE))


def thread_counts(results):
    return sorted({result.case.threads for result in results})


def means(results):
    found = []
    results = [r for r in results if not r.case.prints_figures and r.cells]
    for threads in thread_counts(results):
        for column in columns_of(results):
            cases = [r for r in results if r.case.threads == threads and column in r.cells]
            good = [r for r in cases if r.cells[column].ratio() is not None]
            if not cases:
                continue

            def mean(metric):
                ratios = [r.cells[column].ratio(metric) for r in good]
                return figures.geometric_mean([ratio for ratio in ratios if ratio])

            found.append(
                Mean(
                    threads,
                    column,
                    mean(WALL),
                    mean(CPU),
                    mean(MEMORY),
                    len(good),
                    [r.case.title for r in cases if r not in good],
                )
            )
    return found


def compared_mean(results, table, threads):
    """Geometric means over the programs of which both have a figure with that number of threads: (ours, theirs, programs)."""
    ours, theirs = [], []
    for result in results:
        cell = result.cells.get(table["point"])
        value, count = data.reported(table, result.case)
        if count == threads == result.case.threads and cell and cell.ratio() and isinstance(value, (int, float)):
            ours.append(cell.ratio())
            theirs.append(value)
    return figures.geometric_mean(ours), figures.geometric_mean(theirs), len(ours)


def verdicts(results, preset):
    """Of every target that these results say something about."""
    targets = data.targets()
    found = []
    results = [
        r for r in results if preset == "engine" or r.case.of_papers and r.case.size != "small"
    ]  # small is start-up only
    for result in results:
        for rule in targets["ratios"]:
            cell = result.cells.get(rule["point"])
            if (
                not cell
                or result.case.name not in rule["names"]
                or rule["preset"] != ("engine" if preset == "engine" else "papers")
            ):
                continue
            metrics = result.metrics if result.case.prints_figures else [WALL]
            for metric in metrics:
                what = f"{result.case.name} {metric}" if result.case.prints_figures else result.case.name
                found.append(
                    Verdict(what, result.case.threads, rule["point"], cell.ratio(metric), rule["at_most"], cell.state)
                )
    return found + ([] if preset == "engine" else over_all(results, targets["over_all"]))


def over_all(results, rule):
    point = rule["point"]
    wall = {mean.threads: mean.wall for mean in means(results) if mean.column == point and mean.programs > 1 and mean.wall}
    found = [Verdict("geometric mean", threads, point, value, rule["geometric_mean"]) for threads, value in wall.items()]
    if not wall:
        return found
    worst = max((r for r in results if point in r.cells and r.cells[point].ratio()), key=lambda r: r.cells[point].ratio())
    found.append(
        Verdict(f"the most ({worst.case.name})", worst.case.threads, point, worst.cells[point].ratio(), rule["most"])
    )
    few, many = rule["growth"]["from"], rule["growth"]["to"]
    ratios = [
        {r.case.name: r.cells[point].ratio() for r in results if r.case.threads == count and point in r.cells}
        for count in (few, many)
    ]
    both = [name for name in ratios[0] if ratios[0][name] and ratios[1].get(name)]
    if both:
        growth = figures.geometric_mean([ratios[1][name] / ratios[0][name] for name in both])
        found.append(Verdict(f"growth from {few} to {many} threads", 0, point, growth, rule["growth"]["at_most"]))
    return found
