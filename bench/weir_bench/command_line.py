"""What can be typed."""

import argparse
import os

from . import workloads
from .case import Misuse
from .presets import PRESETS

ABOUT = """\
Runs programs natively and under Weir, turn and turn about, and says what Weir costs: wall time, processor time and memory
against native, with the spread, and whether every run printed the right result."""

EXAMPLES = """\
examples:
  weir-bench histogram kmeans                       two programs, 4 threads, under weir det and natively
  weir-bench --points token:isolated,token:direct,free:isolated --threads 1,2,4,8 pca
  weir-bench --preset paper-dthreads --html report.html
                                                    what the Dthreads paper measured, beside its figures
  weir-bench --preset paper-dthreads --analysis     the same, and why: each half of the engine alone, and its counters
  weir-bench --preset engine mutex                  single mechanisms; names select those that contain them
  weir-bench --column tsan='/build-tsan/bench/{name} {arguments}' pfscan
  weir-bench --column valgrind='valgrind -q --tool=none {command}' --points none pca
  weir-bench --threads 2,4 -- ./program --jobs {threads}
                                                    a program of your own; {threads} is put in
  weir-bench --list                                 what there is

points are ORDER:VIEW, with the orders free and token and the views direct and isolated (weir run --help). weir det is
token:isolated, which is what is measured where nothing else is asked for. record:VIEW and replay:VIEW, with the views coherent,
isolated and direct, are weir record and the replay of each of its recordings; a replay's ratio is against the recorded run. With
record:coherent-NAME-NAME recordings are made without these optimizations (docs/guide/record.md).

a column's command is a command line, not a shell's. In it {command} stands for the program and its arguments, {program},
{name} (without its folder) and {arguments} for these alone, {threads} and {size} for the numbers. What it prints must be
what the program prints, so it must be silent on standard output.

the ratio is the median over the rounds of (run / native run of the same round); in brackets stand the 25th and the 75th
percentile. Memory is that of all processes of the program at its peak: the sum of their proportional set sizes and of what
their memory files hold beyond that, looked at every other millisecond in a run of its own.

status: 0 all measured, 1 something failed, printed a wrong result or ran into the limit, 2 misused."""


def numbers(text):
    try:
        found = tuple(int(word) for word in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers") from error
    if not all(1 <= number <= 64 for number in found):
        raise argparse.ArgumentTypeError("threads are 1 to 64")
    return found


def positive(kind):
    def parse(text):
        try:
            value = kind(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"'{text}' is not a number") from error
        if not 0 < value < 1e9:
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return value

    return parse


def cpus(text):
    found = set()
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            found.update(range(int(first), int(last or first) + 1))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of processors (0-3 or 0,2)") from error
    return found


def parser(build):
    presets = "\n".join(f"  {name:22}{preset.about}" for name, preset in PRESETS.items())
    result = argparse.ArgumentParser(
        prog="weir-bench",
        usage="weir-bench [options] [NAME...]\n       weir-bench [options] -- COMMAND [ARGUMENTS]",
        description=ABOUT,
        epilog=f"presets:\n{presets}\n\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("name", nargs="*", metavar="NAME", help="a workload (--list), or with a preset one of its programs")
    what = result.add_argument_group("what")
    what.add_argument("--preset", choices=PRESETS, metavar="PRESET", help=f"a set of programs: {', '.join(PRESETS)}")
    what.add_argument("--points", metavar="LIST", help="points of Order x View, record:VIEW, replay:VIEW, or 'none' (default token:isolated)")
    what.add_argument(
        "--column", action="append", default=[], metavar="NAME=COMMAND", help="another way to run them, again and again"
    )
    what.add_argument(
        "--analysis",
        action="store_true",
        help="also token:direct (the Dthreads paper's sync-only) and free:isolated (prot-only), and the runtime's counters",
    )
    what.add_argument(
        "--threads", type=numbers, metavar="LIST", help="numbers of threads, as 1,2,4,8 (default 4; presets 2,4,8)"
    )
    what.add_argument("--size", choices=workloads.SIZES, help="of the inputs (default medium; large is the papers')")
    what.add_argument(
        "--list", action="store_true", help="print what there is, or the commands of what was chosen, and measure nothing"
    )
    how = result.add_argument_group("how")
    how.add_argument(
        "--pairs", type=positive(int), metavar="N", help="rounds for each figure (default 5; the preset engine 9)"
    )
    how.add_argument("--limit", type=positive(float), metavar="SECONDS", help="for one run (default 120, or the preset's)")
    pin = how.add_mutually_exclusive_group()
    pin.add_argument("--processors", type=positive(int), metavar="N", help="run everything on N processors only")
    pin.add_argument("--taskset", type=cpus, metavar="CPUS", help="run everything on these processors only, as 0,2 or 0-3")
    how.add_argument(
        "--same-output",
        action="store_true",
        help="of a command of your own: every run must print what the first native one printed",
    )
    how.add_argument("--inputs", metavar="DIR", help="keep generated inputs there, for the next time")
    how.add_argument("--build", default=build, metavar="DIR", help="the build to measure (default: the one that this command belongs to)")
    out = result.add_argument_group("reports beside the table")
    out.add_argument("--json", metavar="FILE", help="everything, with all samples")
    out.add_argument("--csv", metavar="FILE", help="a line for every ratio")
    out.add_argument(
        "--html", metavar="FILE", help="one page with tables, plots and the papers' figures; it needs no other file"
    )
    out.add_argument("--png", metavar="FILE", help="the plot of the ratios")
    return result


def parse(words, build):
    """Options, with `own`: the words of the user's own command, or None."""
    own = None
    if "--" in words:
        at = words.index("--")
        words, own = words[:at], words[at + 1 :]
    top = parser(build)
    options = top.parse_args(words)
    options.own = own
    if own is not None and (not own or options.name or options.preset):
        top.error("behind -- stands one command, and then no names and no preset")
    if own is None and not (options.name or options.preset or options.list):
        top.error(
            "say what to measure: names of workloads, --preset PRESET, or a command behind --\n"
            "for a first look: weir-bench histogram      --list says what there is, --help how it is used"
        )
    for path in filter(None, (options.json, options.csv, options.html, options.png)):
        folder = os.path.dirname(os.path.abspath(path))
        if not os.access(folder, os.W_OK):
            raise Misuse(f"cannot write to {folder}, where {path} is to go")
    return options
