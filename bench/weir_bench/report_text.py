"""The tables on the terminal. A line is printed as soon as its case has been measured."""

import textwrap

from . import data, figures, verdict
from .case import BASE
from .measure import CPU, DIFFERENT, MEMORY, WALL

NAME, NATIVE, COLUMN, REPORTED = 26, 20, 35, 10
MANY, NARROW = 7, 11  # so many columns have letters for names, and wall time only


def in_words(cell):
    """Of a cell that has no figures."""
    return f"{cell.state.upper()}: {cell.message}"


def spread(cell, metric):
    low, middle, high = cell.ratios[metric]
    return f"{figures.ratio(middle)} ({figures.ratio(low)}-{figures.ratio(high)})"


def ratios_in_words(cell):
    if not cell.ok:
        return cell.state.upper()
    if not cell.ratios.get(WALL):
        return "-"
    return f"{spread(cell, WALL):18}{figures.ratio(cell.ratio(CPU)):>7}{figures.size(cell.median(MEMORY)):>8}"


def references(columns, cases):
    """Tables of papers and peers that stand beside these columns."""
    return [table for column in columns for table in data.beside(column, cases)]


def value_in_words(value):
    return "" if value is None else value.upper() if isinstance(value, str) else figures.ratio(value)


class Programs:
    """One line a case: native time and memory; for each column wall and processor time against native, and memory."""

    def __init__(self, columns, cases, write=print):
        self.columns, self.write = columns, write
        self.references = references(columns, cases)
        self.group = ""
        self.is_brief = len(self.columns) >= MANY

    def head(self):
        if self.is_brief:
            letters = [chr(ord("a") + number) for number in range(len(self.columns))]
            for letter, name in zip(letters, self.columns):
                self.write(f"{letter}: {name}")
            self.write(f"{'program, threads':{NAME}}{'native':>10}" + "".join(f"{letter:>{NARROW}}" for letter in letters))
            return
        self.write(
            f"{'':{NAME}}{'native':>{NATIVE}}  "
            + "".join(f"{name:{COLUMN}}" for name in self.columns)
            + "".join(f"{table['heading'].split()[0]:>{REPORTED}}" for table in self.references)
        )
        self.write(
            f"{'program, threads':{NAME}}{'wall':>10}{'memory':>10}  "
            + f"{'wall (25%-75%)':18}{'cpu':>7}{'memory':>8}  " * len(self.columns)
            + "".join(f"{' '.join(table['heading'].split()[1:]):>{REPORTED}}" for table in self.references)
        )

    def line(self, result):
        if result.case.group != self.group:
            self.group = result.case.group
            self.write(self.group)
        title = f"  {result.case.title:{NAME - 2}}"
        if result.failure:
            self.write(f"{title}  NO FIGURES: {result.failure}")
            return
        if result.case.draws:
            self.draws(title, result)
            return
        base = result.base
        if self.is_brief:
            cells = [result.cells.get(name) for name in self.columns]
            words = ("-" if not cell else figures.ratio(cell.ratio()) if cell.ok else cell.state for cell in cells)
            self.write(f"{title}{figures.seconds(base.median(WALL)):>10}" + "".join(f"{word:>{NARROW}}" for word in words))
            self.failures(result)
            return
        text = f"{title}{figures.seconds(base.median(WALL)):>10}{figures.size(base.median(MEMORY) or 0):>10}  "
        text += "".join(f"{ratios_in_words(result.cells[name]):{COLUMN}}" for name in self.columns if name in result.cells)
        for table in self.references:
            value, threads = data.reported(table, result.case)
            mark = "" if value is None or threads == result.case.threads else f"@{threads}"
            text += f"{value_in_words(value) + mark:>{REPORTED}}"
        self.write(text.rstrip())
        self.failures(result)

    def failures(self, result):
        for name in self.columns:
            cell = result.cells.get(name)
            if cell and not cell.ok:
                self.write(f"{'':{NAME}}  {name}: {in_words(cell)}")

    def draws(self, title, result):
        counts = (f"{name} {cell.median(DIFFERENT)}" for name, cell in result.cells.items() if cell.ok)
        self.write(f"{title}  of {result.case.draws} runs so many print different results: {', '.join(counts)}")
        self.failures(result)


class Mechanisms:
    """One line a figure, for the preset engine: a case has its own columns, and may have several figures."""

    def __init__(self, preset, write=print):
        self.preset, self.write = preset, write

    def head(self):
        self.write(f"{'':44}{'':16}{'native':>10}{'weir':>10}{'ratio':>8}  25%-75%        cpu  target")

    def line(self, result):
        if result.failure:
            self.write(f"{result.case.title:44}  NO FIGURES: {result.failure}")
            return
        aims = verdict.verdicts([result], self.preset)
        for name, cell in result.cells.items():
            if name == BASE:
                continue
            if not cell.ok:
                self.write(f"{result.case.title:44}{name:16}  {in_words(cell)}")
                continue
            for metric in result.metrics:
                if metric == CPU or metric not in cell.ratios:
                    continue
                low, middle, high = map(figures.ratio, cell.ratios[metric])
                aim = [v for v in aims if v.column == name and (metric == WALL or v.what.endswith(" " + metric))]
                target = f"{aim[0].at_most:g} {'met' if aim[0].met else 'MISSED'}" if aim else ""
                title = result.case.title + ("" if metric == WALL else f" {metric}")
                cpu = figures.ratio(cell.ratio(CPU)) if metric == WALL else ""
                self.write(
                    f"{title:44}{name:16}{figures.seconds(result.base.median(metric)):>10}"
                    f"{figures.seconds(cell.median(metric)):>10}{middle:>8}  {low + '-' + high:13}{cpu:>5}  {target}".rstrip()
                )


def summary(results, preset, write=print):
    found = verdict.means(results)
    if any(mean.programs > 1 for mean in found) and preset != "engine":
        write("")
        width = max([26] + [len(mean.column) + 2 for mean in found])
        write(f"{'geometric means':{width + 17}}wall     cpu  memory  programs")
        for mean in found:
            without = f"  without {', '.join(mean.without)}" if mean.without else ""
            against = f"  against {mean.base}" if mean.base != BASE else ""
            threads = f"{mean.threads} threads" if mean.threads else ""
            write(
                f"  {mean.column:{width}}{threads:11}{figures.ratio(mean.wall):>8}{figures.ratio(mean.cpu):>8}"
                f"{figures.ratio(mean.memory):>8}{mean.programs:>10}{against}{without}"
            )
        for table in references(verdict.columns_of(results), [r.case for r in results]):
            for threads in verdict.thread_counts(results):
                ours, theirs, programs = verdict.compared_mean(results, table, threads)
                if programs > 1:
                    write(
                        f"  {table['heading']} {figures.ratio(theirs)}, here {figures.ratio(ours)}: {threads} threads, "
                        f"{programs} programs of which both have a figure"
                    )
    targets(verdict.verdicts(results, preset), write)


def targets(verdicts, write):
    if not verdicts:
        return
    write("")
    met = sum(v.met for v in verdicts)
    write(f"targets: {met} of {len(verdicts)} met")
    rows = {}
    for v in verdicts:
        rows.setdefault((v.what, v.column, v.aim), []).append(v)
    for (what, column, aim), row in rows.items():
        each = []
        for v in row:
            threads = f"{v.threads} threads " if v.threads else ""
            each.append(
                threads + ("NO FIGURE" if v.value is None else figures.ratio(v.value) + ("" if v.met else " MISSED"))
            )
        write(f"  {what:34}{column:16}{aim:14} {', '.join(each)}")


def sources(results, write=print):
    used = references(verdict.columns_of(results), [r.case for r in results])
    if used:
        write("")
    for table in used:
        text = f"{table['heading']}: {table['what']}. {table['paper']}, {table['where']}; {table['machine']}"
        write(textwrap.fill(text, 120, subsequent_indent="  "))
    if any(len(table["threads"]) == 1 for table in used):
        write("x@N: the source has this figure for N threads only")


ANALYSIS = (
    ("serial_percent", "serial %", 10),
    ("transactions", "transactions", 14),
    ("length_ms", "length ms", 11),
    ("program_ms", "program ms", 12),
    ("dirty_pages", "dirty pages", 13),
    ("faults", "faults", 10),
    ("hit_percent", "hit %", 8),
    ("accuracy_percent", "accuracy %", 12),
)
ANALYSIS_WORDS = (
    "Length: time of the program / transactions, as in the Dthreads paper; program: what of it was program code, on average. "
    "Dirty: pages written, counted for each transaction; faults: of these, the ones that the kernel had to copy; hit: of "
    "these, the ones copied in advance; accuracy: of the pages copied in advance, the ones that were written."
)


FLOOR_WORDS = (
    "Processor time in milliseconds, so nearly the same on a busy machine. Floor: side by side (the longest task of each "
    "round), in turn (program code in kept turns) and events, added up: no run is faster, even with a processor for each "
    "task. Beside: of the code in turn, while another task could run. Unkept, unfenced: floors of an order without kept "
    "turns, without fences as well. No fence: today's turns in today's order, and nobody waits for who is not due. Waits: a "
    "task waits only for the one that makes or wakes it. Compare with own code / threads."
)


def counter_in_words(value):
    return "-" if value is None else f"{value}" if isinstance(value, int) else figures.three_digits(value)


def analysis(results, write=print):
    """The counters, each program's line with the paper's own below it; then what the tasks' time was spent on."""
    counted = [r for r in results if r.counters]
    for result in results:
        if result.uncounted:
            write(f"{result.case.title}: {result.uncounted}")
    if not counted:
        return
    write("")
    write("token:direct is what the Dthreads paper calls sync-only, free:isolated its prot-only")
    write("")
    write("what the runtime counted at token:isolated")
    write(f"{'program, threads':{NAME}}" + "".join(f"{heading:>{width}}" for _, heading, width in ANALYSIS))
    for result in counted:
        values = "".join(f"{counter_in_words(getattr(result.counters, name)):>{width}}" for name, _, width in ANALYSIS)
        write(f"  {result.case.title:{NAME - 2}}{values}")
        paper = ""
        for name, _, width in ANALYSIS:
            table = data.for_counter(name)
            value, _ = data.reported(table, result.case) if table else (None, None)
            paper += f"{'' if value is None else counter_in_words(value):>{width}}"
        if paper.strip():
            write(f"  {'  paper, 8 threads':{NAME - 2}}{paper}".rstrip())
    write(textwrap.fill(ANALYSIS_WORDS, 120))
    write("")
    write("what the tasks' time was spent on, percent (weir stat's phases)")
    phases = list(counted[0].counters.phases)
    write(f"{'program, threads':{NAME}}" + "".join(f"{phase:>12}" for phase in phases))
    for result in counted:
        write(
            f"  {result.case.title:{NAME - 2}}"
            + "".join(f"{counter_in_words(result.counters.phases[phase]):>12}" for phase in phases)
        )
    write("")
    write("the floor of each run at token:isolated (weir stat's)")
    write(f"{'program, threads':{NAME}}" + "".join(f"{name:>14}" for name in counted[0].counters.floor))
    for result in counted:
        times = "".join(f"{counter_in_words(time):>14}" for time in result.counters.floor.values())
        write(f"  {result.case.title:{NAME - 2}}{times}")
    write(textwrap.fill(FLOOR_WORDS, 120))
