"""From the command line to the reports."""

import fnmatch
import os
import shutil
import signal
import sys
import tempfile
import time

from . import command_line, counters, plots, presets, process
from . import report_data, report_html, report_recordings, report_text, sanitized, workloads
from .case import Case, Misuse, own_column, point_column, with_their_recordings
from .inputs import Inputs
from .machine import describe, sentence
from .measure import Bench

POINT = presets.ISOLATED
ANALYSIS = ("token:isolated", "token:direct", "free:isolated")
OWN = presets.Preset("the user's own command", None, threads=(0,))
NAMED = presets.Preset("named workloads", presets.papers(workloads.ALL), threads=(4,))


def own_case(words, threads):
    program = shutil.which(words[0])
    if not program:
        raise Misuse(f"no program '{words[0]}'")
    arguments = tuple(word.replace("{threads}", str(threads)) for word in words[1:])
    return Case(
        name=os.path.basename(program), group="", program=os.path.abspath(program), arguments=arguments, threads=threads
    )


def chosen(options, preset):
    """The cases that the command line asks for."""
    threads, size = options.threads or preset.threads, options.size or preset.size
    if options.own:
        named = any("{threads}" in word for word in options.own)
        if options.threads and not named:
            raise Misuse("--threads with a command of your own: say {threads} where the number goes")
        if options.size:
            raise Misuse("--size is of the workloads; a command of your own says itself what it works on")
        if named and not options.threads:
            raise Misuse("the command says {threads}: give the numbers with --threads")
        return [own_case(options.own, count) for count in (threads if named else (0,))]
    if preset is NAMED:
        return [workloads.workload(options.build, name, count, size) for name in options.name for count in threads]
    cases = preset.cases(options.build, threads, size)
    if options.name:
        text = lambda case: f"{case.group} {case.name} {case.threads}"
        fits = lambda case, name: name in text(case) if options.preset == "engine" else fnmatch.fnmatch(case.name, name)
        for name in options.name:
            if not any(fits(case, name) for case in cases):
                raise Misuse(f"nothing in the preset {options.preset} fits '{name}'; --list says what there is")
        cases = [case for case in cases if any(fits(case, name) for name in options.name)]
    return cases


def columns(options, preset, weir):
    """What each case is run as, beside natively: points, and other commands."""
    asked = () if options.points == "none" else tuple(options.points.split(",")) if options.points else preset.points
    asked = with_their_recordings((ANALYSIS if options.analysis else ()) + asked)
    points, own = [point_column(point, weir) for point in asked], [own_column(text) for text in options.column]
    names = [column.name for column in points + own]
    if not names:
        raise Misuse("there is nothing to compare with: give --points or --column")
    if len(set(names)) < len(names):
        raise Misuse("every column needs a name of its own")
    return points, own


class Progress:
    """One line on a terminal that changes; nothing elsewhere, where the lines of the table say how far it is."""

    def __init__(self, cases):
        self.cases, self.start, self.title, self.number = cases, time.monotonic(), "", 0
        self.shown = sys.stderr.isatty()

    def case(self, number, case):
        self.number, self.title = number, case.title

    def __call__(self, what):
        if not self.shown:
            return
        spent = time.monotonic() - self.start
        left = (
            f", about {spent / self.number * (self.cases - self.number) / 60:.0f} min left"
            if self.number and spent > 5
            else ""
        )
        print(
            f"\r\033[K[{self.number + 1}/{self.cases}] {self.title}: {what}{left}"[: shutil.get_terminal_size().columns],
            end="",
            file=sys.stderr,
            flush=True,
        )

    def clear(self):
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def pin(options):
    allowed = os.sched_getaffinity(0)
    wanted = options.taskset or (set(sorted(allowed)[: options.processors]) if options.processors else allowed)
    if not wanted <= allowed or options.processors and options.processors > len(allowed):
        raise Misuse(f"there are only the processors {', '.join(map(str, sorted(allowed)))}")
    os.sched_setaffinity(0, wanted)


def list_all(build):
    print("workloads:")
    for suite, names in workloads.SUITES.items():
        print(f"  {suite}")
        for name in names:
            present = workloads.workload(build, name, 4, "medium").present
            options = " ".join(workloads.VARIANTS.get(name, ()))
            print(f"    {name:20}{options:26}{'' if present else 'not in this build'}".rstrip())
    print("presets:")
    for name, preset in presets.PRESETS.items():
        print(f"  {name:22}{preset.about}")


def list_commands(cases, columns_of):
    for case in cases:
        path = f"<{' '.join(filter(None, case.input))}>" if case.input else ""
        for column in columns_of(case):
            print(" ".join(column.command(case, path)))


def measure_all(options, cases, columns_of, report, scratch, preset):
    progress = Progress(len(cases))
    same = options.same_output if options.own else True
    bench = Bench(
        Inputs(options.build, scratch, options.inputs), scratch, options.pairs or preset.pairs, options.limit or preset.limit, progress, same
    )
    results = []
    try:
        for number, case in enumerate(cases):
            progress.case(number, case)
            result = bench.measure(case, columns_of(case))
            if options.analysis and not result.failure and result.cells[POINT].ok:
                progress("counting")
                path = bench.inputs.path(case.input)
                weir = os.path.join(options.build, "bin", "weir")
                result.counters, result.uncounted = counters.take(case, path, weir, POINT, bench, process.run)
            progress.clear()
            report.line(result)
            sys.stdout.flush()
            results.append(result)
    except KeyboardInterrupt:
        progress.clear()
        print("weir-bench: interrupted; what was measured until now:", file=sys.stderr)
    return results


def write_reports(options, results, about):
    if options.json:
        report_data.write_json(options.json, results, about)
    if options.csv:
        report_data.write_csv(options.csv, results)
    if (options.html or options.png) and not plots.library():
        print("weir-bench: no plots: python3-matplotlib is not installed (tools/setup bench)", file=sys.stderr)
    if options.html:
        report_html.write_html(options.html, results, about)
    if options.png and not plots.write_png(options.png, results) and plots.library():
        print(f"weir-bench: {options.png} was not written: there is nothing to draw", file=sys.stderr)


def on_terminate(number, frame):
    raise SystemExit(128 + number)


def run(words, build):
    options = command_line.parse(words, build)
    options.build = os.path.abspath(options.build)
    if options.list and not (options.name or options.preset or options.own):
        list_all(options.build)
        return 0
    if options.preset == "engine" and (options.threads or options.size or options.analysis):
        raise Misuse(
            "the programs of the preset engine have their own numbers of threads and sizes, and are no programs to analyse"
        )
    preset = presets.PRESETS[options.preset] if options.preset else OWN if options.own else NAMED
    cases = chosen(options, preset)
    if options.preset == "papers" and not options.list:
        for case in {case.name: case for case in cases if not case.present}.values():
            print(f"weir-bench: {case.name} is not in this build: left out", file=sys.stderr)
        cases = [case for case in cases if case.present]
    weir = os.path.join(options.build, "bin", "weir")
    points, own = columns(options, preset, weir)
    columns_of = lambda case: [c for c in points if not case.points or c.name in case.points] + own
    cases = [case for case in cases if columns_of(case)]
    if options.list:
        list_commands(cases, columns_of)
        return 0
    if points and not os.access(weir, os.X_OK):
        raise Misuse(f"no {weir}: build first, or name the build with --build")
    names = dict.fromkeys(os.path.basename(case.program) for case in cases if case.present)
    if any(column.name == "tsan" for column in points) and (wrong := sanitized.make(options.build, names)):
        raise Misuse(wrong)
    pin(options)
    process.adopt()
    signal.signal(signal.SIGTERM, on_terminate)  # so that what runs is ended too
    about = {
        "machine": describe(options.build),
        "command": ["weir-bench"] + words,
        "preset": options.preset,
        "pairs": options.pairs or preset.pairs,
        "limit_seconds": options.limit or preset.limit,
    }
    print(f"{sentence(about['machine'])}; {about['pairs']} rounds for each figure")
    engine = options.preset == "engine"
    report = (
        report_text.Mechanisms(options.preset) if engine else report_text.Programs([c.name for c in points + own], cases)
    )
    report.head()
    try:
        with tempfile.TemporaryDirectory(prefix="weir-bench-") as scratch:
            results = measure_all(options, cases, columns_of, report, scratch, preset)
    finally:  # a signal may come when a program has begun and is in no variable yet
        process.end_orphans()
    if options.analysis:
        report_text.analysis(results)
    report_text.summary(results, options.preset)
    report_recordings.paper_means(results)
    report_recordings.sizes(results)
    report_recordings.shares(results)
    if not engine:
        report_text.sources(results)
    write_reports(options, results, about)
    bad = [r for r in results if r.failure or r.uncounted or not all(cell.ok for cell in r.cells.values())]
    return 1 if bad or len(results) < len(cases) else 0


def main(build):
    try:
        return run(sys.argv[1:], build)
    except Misuse as error:
        print(f"weir-bench: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 1
