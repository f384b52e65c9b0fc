"""Means, and which targets are met."""

import dataclasses

from . import data, figures
from .case import BASE
from .measure import CPU, DIFFERENT, MEMORY, RATE, WALL
from .process import TIME_OUT


@dataclasses.dataclass
class Mean:
    threads: int
    column: str
    wall: float
    cpu: float
    memory: float
    programs: int  # in the means
    without: list  # titles of those that have no figure
    base: str = BASE  # the column that this one is compared with


@dataclasses.dataclass
class Verdict:
    what: str
    threads: int  # 0: several
    column: str
    value: float  # None: there is no figure
    at_most: float
    why: str = ""  # there is none
    at_least: bool = False  # instead

    @property
    def met(self):
        if self.value is None:
            return False
        return self.value >= self.at_most if self.at_least else self.value <= self.at_most

    @property
    def aim(self):
        return f"{'at least' if self.at_least else 'at most'} {self.at_most:.3g}"


def columns_of(results):
    """Names of all columns but the native one, in the order in which they were asked for."""
    return list(dict.fromkeys(name for result in results for name in result.cells if name != BASE))


def thread_counts(results):
    return sorted({result.case.threads for result in results})


def means(results):
    found = []
    results = [r for r in results if not (r.case.prints_figures or r.case.client or r.case.draws) and r.cells]
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
                    cases[0].cells[column].base,
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
        r for r in results if preset == "engine" or r.case.draws or r.case.of_papers and r.case.size != "small"
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
    if preset == "engine":
        return found
    for rule in targets["over_all"]:
        found += over_all(results, rule)
    for rule in targets["beside"]:
        found += beside(results, rule)
    return found + of_recordings(results, targets)


def of_recordings(results, targets):
    """How much is written, typically; how many different results racey has."""
    rule, found = targets["recording_rate"], []
    for threads in thread_counts(results):
        programs = [r for r in results if r.case.threads == threads and not r.case.client]
        cells = [r.cells[rule["point"]] for r in programs if rule["point"] in r.cells]
        rates = [cell.median(RATE) for cell in cells if cell.ok and cell.samples.get(RATE)]
        if len(rates) > 1:
            typical = figures.median(rates) / 1e6
            found.append(Verdict("MB a second and core, typical", threads, rule["point"], typical, rule["at_most"] / 1e6))
    rule = targets["different"]
    for r in draws(results):
        cell = r.cells.get(rule["point"])
        if cell and r.case.threads == rule["threads"]:
            least = rule["at_least"] * r.case.draws
            what = f"{r.case.name}, different of {r.case.draws}"
            found.append(Verdict(what, r.case.threads, rule["point"], cell.median(DIFFERENT), least, cell.state, True))
    return found


def beside(results, rule):
    """How slow one column is as a share of another's, over the programs of which both have a figure."""
    found = []
    for threads in thread_counts(results):
        both = [
            (r.cells[rule["point"]].ratio(), r.cells[rule["to"]].ratio())
            for r in results
            if r.case.threads == threads and rule["point"] in r.cells and rule["to"] in r.cells
        ]
        shares = [ours / theirs for ours, theirs in both if ours and theirs]
        if len(shares) > 1:
            what = f"share of {rule['to']}'s, of {len(shares)} programs"
            found.append(Verdict(what, threads, rule["point"], figures.geometric_mean(shares), rule["at_most"]))
    return found


def draws(results):
    return [r for r in results if r.case.draws]


def over_all(results, rule):
    point, only = rule["point"], rule.get("threads")
    results = [r for r in results if only in (None, r.case.threads) and not (r.case.client or r.case.draws)]
    wall = {mean.threads: mean.wall for mean in means(results) if mean.column == point and mean.programs > 1 and mean.wall}
    found = [Verdict("geometric mean", threads, point, value, rule["geometric_mean"]) for threads, value in wall.items()]
    if not wall:
        return found
    if "most" in rule:
        cells = [(r, r.cells[point]) for r in results if point in r.cells]
        unending = [r for r, cell in cells if cell.state == TIME_OUT]  # more than anything that ended
        worst = unending[0] if unending else max((r for r, cell in cells if cell.ratio()), key=lambda r: r.cells[point].ratio())
        found.append(
            Verdict(f"the most ({worst.case.name})", worst.case.threads, point, worst.cells[point].ratio(), rule["most"])
        )
    if "growth" not in rule:
        return found
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
