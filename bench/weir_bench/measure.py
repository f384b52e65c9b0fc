"""Measures a case: all its columns turn and turn about.

One untimed run of each comes first: it warms the caches, its result is compared, its memory watched. Then rounds, each of one
native run and one of every column; from round to round the order is turned round, so that nobody always goes first, and with
three or more it also begins at another one. A column that fails, prints something wrong or exceeds the limit once is out of the
following rounds, and has no figures."""

import dataclasses

from . import figures
from .case import BASE, Misuse
from .process import FAILED, OK, WRONG, run

WALL, CPU, MEMORY = "wall", "cpu", "memory"


@dataclasses.dataclass
class Cell:
    """What one column of one case came to."""

    command: list
    state: str = OK
    message: str = ""
    samples: dict = dataclasses.field(default_factory=dict)  # metric: [a number a round]; seconds, or bytes
    ratios: dict = dataclasses.field(
        default_factory=dict
    )  # metric: (25th percentile, median, 75th percentile) against native

    @property
    def ok(self):
        return self.state == OK

    def median(self, metric):
        return figures.median(self.samples.get(metric))

    def ratio(self, metric=WALL):
        return self.ratios[metric][1] if self.ok and self.ratios.get(metric) else None


@dataclasses.dataclass
class Result:
    case: object
    cells: dict  # name of the column: Cell; native first
    sequential: float = None  # seconds, of the one run of the sequential version
    counters: object = None  # counters.Counters
    uncounted: str = ""  # why there are none, though they were asked for
    failure: str = ""  # why there are no cells

    @property
    def base(self):
        return self.cells[BASE]

    @property
    def metrics(self):
        return [m for m in self.base.samples if m != MEMORY]


def printed_figures(output):
    """{name: seconds} of lines `name nanoseconds`."""
    lines = (line.split() for line in output.decode(errors="replace").splitlines())
    return {words[0]: float(words[1]) / 1e9 for words in lines if len(words) >= 2}


def samples_of(case, done):
    if case.prints_figures:
        return printed_figures(done.output)
    return {WALL: done.wall, CPU: done.cpu}


def turn(names, number):
    """The order of round `number`."""
    pivot = number // 2 % len(names)
    order = names[pivot:] + names[:pivot]
    return order[::-1] if number % 2 else order


class Bench:
    def __init__(self, inputs, folder, pairs, limit, progress=lambda text: None, check_output=True):
        self.inputs, self.folder, self.pairs, self.limit = inputs, folder, pairs, limit
        self.progress, self.check_output = progress, check_output
        self.expected = {}  # (name, size): run of the sequential version

    def reference(self, case, path):
        """The run whose output is the right one, or None."""
        if not case.sequential:
            return None
        key = case.name, case.size
        if key not in self.expected:
            self.progress("sequential version")
            self.expected[key] = run(case.words(case.sequential, path), self.limit, self.folder)
        return self.expected[key]

    def once(self, case, cell, expected, watch=False):
        done = run(cell.command, self.limit, self.folder, watch)
        if done.state == OK and expected is not None and done.output != expected:
            done.state, done.message = WRONG, "prints something else than the " + (
                "sequential version" if case.sequential else "native run"
            )
        if done.state == OK and case.prints_figures:
            try:
                if not printed_figures(done.output):
                    raise ValueError
            except ValueError:
                done.state, done.message = FAILED, "prints no lines 'name nanoseconds'"
        if done.state != OK:
            cell.state, cell.message = done.state, done.message
        return done

    def measure(self, case, columns):
        if not case.present:
            return Result(case, {}, failure=f"{case.program} is not there")
        try:
            path = self.inputs.path(case.input)
        except (Misuse, OSError) as error:
            return Result(case, {}, failure=f"its input: {error}")
        cells = {BASE: Cell(case.command(path))}
        cells.update((column.name, Cell(column.command(case, path))) for column in columns)
        result = Result(case, cells)
        expected = None
        reference = self.reference(case, path)
        if reference:
            if reference.state != OK:
                result.failure = f"the sequential version: {reference.state}: {reference.message}"
                return result
            expected, result.sequential = reference.output, reference.wall
        for name, cell in cells.items():
            self.progress(f"{name}: first run")
            done = self.once(case, cell, expected, watch=True)
            if name == BASE and not cell.ok:
                result.failure = f"native: {cell.state}: {cell.message}"
                return result
            if expected is None and name == BASE and self.check_output and not case.prints_figures:
                expected = done.output
            if cell.ok and done.memory:
                cell.samples[MEMORY] = [done.memory]
        for number in range(self.pairs):
            for name in turn(list(cells), number):
                cell = cells[name]
                if not cell.ok:
                    continue
                self.progress(f"{name}: round {number + 1} of {self.pairs}")
                done = self.once(case, cell, expected)
                if not cell.ok:
                    continue
                for metric, value in samples_of(case, done).items():
                    cell.samples.setdefault(metric, []).append(value)
            if not cells[BASE].ok:
                result.failure = f"native: {cells[BASE].state}: {cells[BASE].message}"
                return result
        self.take_ratios(result)
        return result

    @staticmethod
    def take_ratios(result):
        base = result.base
        for name, cell in result.cells.items():
            if name == BASE or not cell.ok:
                continue
            for metric, samples in cell.samples.items():
                ratio = figures.paired(base.samples.get(metric), samples)
                if ratio:
                    cell.ratios[metric] = ratio
