"""Measures a case: all its columns turn and turn about.

One untimed run of each comes first: it warms the caches, its result is compared, its memory watched. Then rounds, each of one
native run and one of every column; from round to round the order is turned round, so that nobody always goes first, and with
three or more it also begins at another one. A column that fails, prints something wrong or exceeds the limit once is out of the
following rounds, and has no figures. A replay runs right behind what made its recording, of which there is one at a time: it is
removed when the next is made, and at the end."""

import dataclasses
import os
import shutil

from . import figures
from .case import BASE, RECORDING, Misuse
from .process import FAILED, OK, WRONG, run

WALL, CPU, MEMORY = "wall", "cpu", "memory"
SIZE, RATE = "recording", "recording_rate"  # of a recording: bytes; bytes a second and core
DIFFERENT = "different"  # of draws: how many different results there were


@dataclasses.dataclass
class Cell:
    """What one column of one case came to."""

    command: list
    state: str = OK
    message: str = ""
    samples: dict = dataclasses.field(default_factory=dict)  # metric: [a number a round]; seconds, or bytes
    ratios: dict = dataclasses.field(
        default_factory=dict
    )  # metric: (25th percentile, median, 75th percentile) against Cell.base
    column: object = None  # case.Column; None: native

    @property
    def ok(self):
        return self.state == OK

    @property
    def base(self):
        return self.column.base if self.column else BASE

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
        return [m for m in self.base.samples if m not in (MEMORY, DIFFERENT)]


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


def units_of(cells):
    """The columns that run right behind each other: each alone, but a replay with what makes its recording."""
    units = []
    for name, cell in cells.items():
        if cell.column and cell.column.replay_of:
            units[[unit[0] for unit in units].index(cell.column.replay_of)].append(name)
        else:
            units.append([name])
    return units


def size_of(folder):
    return sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(folder) for name in names)


class Bench:
    def __init__(self, inputs, folder, pairs, limit, progress=lambda text: None, check_output=True):
        self.inputs, self.folder, self.pairs, self.limit = inputs, folder, pairs, limit
        self.recording = os.path.join(folder, "recording")
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
        column = cell.column
        if column and column.makes:
            shutil.rmtree(self.recording, ignore_errors=True)
        command = [word.replace(RECORDING, self.recording) for word in cell.command]
        replays = column and column.replay_of
        client = () if replays else tuple(case.words(case.client, "")) if case.client else ()
        done = run(command, self.limit, self.folder, watch, client)
        if done.state == OK and expected is not None and done.output != expected:
            done.state, done.message = WRONG, "prints something else than the " + (
                "recorded run" if case.draws else "sequential version" if case.sequential else "native run"
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
        cells.update((column.name, Cell(column.command(case, path), column=column)) for column in columns)
        result = Result(case, cells)
        if case.draws:
            self.draw(case, result)
            return result
        expected = None
        reference = self.reference(case, path)
        if reference:
            if reference.state != OK:
                result.failure = f"the sequential version: {reference.state}: {reference.message}"
                return result
            expected, result.sequential = reference.output, reference.wall
        for name, cell in cells.items():
            self.progress(f"{name}: first run")
            if not self.may_run(cells, cell):
                continue
            done = self.once(case, cell, expected, watch=True)
            if name == BASE and not cell.ok:
                result.failure = f"native: {cell.state}: {cell.message}"
                return result
            if expected is None and name == BASE and self.check_output and not case.prints_figures:
                expected = done.output
            if cell.ok and done.memory:
                cell.samples[MEMORY] = [done.memory]
        for number in range(self.pairs):
            for name in [name for unit in turn(units_of(cells), number) for name in unit]:
                cell = cells[name]
                if not self.may_run(cells, cell):
                    continue
                self.progress(f"{name}: round {number + 1} of {self.pairs}")
                done = self.once(case, cell, expected)
                if not cell.ok:
                    continue
                for metric, value in self.samples_of(case, cell, done).items():
                    cell.samples.setdefault(metric, []).append(value)
            if not cells[BASE].ok:
                result.failure = f"native: {cells[BASE].state}: {cells[BASE].message}"
                return result
        self.take_ratios(result)
        return result

    @staticmethod
    def may_run(cells, cell):
        if cell.ok and cell.column and cell.column.replay_of and not cells[cell.column.replay_of].ok:
            cell.state, cell.message = FAILED, "there is no recording"
        return cell.ok

    def samples_of(self, case, cell, done):
        found = samples_of(case, done)
        if cell.column and cell.column.makes:
            cores = min(case.threads or 1, len(os.sched_getaffinity(0)))
            found[SIZE] = size_of(self.recording)
            found[RATE] = found[SIZE] / done.wall / cores
        return found

    def draw(self, case, result):
        """How many different results so many runs print; a replay must print what its recording does."""
        printed = {name: [] for name in result.cells}
        for number in range(case.draws):
            for name, cell in result.cells.items():
                if not self.may_run(result.cells, cell):
                    continue
                self.progress(f"{name}: {number + 1} of {case.draws}")
                replays = cell.column and cell.column.replay_of
                done = self.once(case, cell, printed[cell.column.replay_of][number] if replays else None)
                printed[name].append(done.output)
        for name, cell in result.cells.items():
            if cell.ok:
                cell.samples[DIFFERENT] = [len(set(printed[name]))]

    @staticmethod
    def take_ratios(result):
        for name, cell in result.cells.items():
            base = result.cells[cell.base]
            if name == BASE or not cell.ok or not base.ok:
                continue
            for metric, samples in cell.samples.items():
                ratio = figures.paired(base.samples.get(metric), samples)
                if ratio:
                    cell.ratios[metric] = ratio
