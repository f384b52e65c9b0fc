"""What is measured (a case) and as what it is run (a column)."""

import dataclasses
import os
import re
import shlex

ORDERS, VIEWS = ("free", "token"), ("direct", "isolated")
RECORD, REPLAY = "record", "replay"
RECORDED_VIEWS = ("coherent", "isolated", "direct")
RECORDING = "{recording}"  # in a command: the folder of the recording
BASE = "native"


class Misuse(Exception):
    """The command line asks for something that there is not; the text says what."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One program with its arguments. `{input}` in an argument stands for the file that `input` describes."""

    name: str
    group: str
    program: str
    arguments: tuple = ()
    threads: int = 0  # 0: not a choice
    size: str = ""
    input: tuple = ()  # what inputs.Inputs makes: a kind and a size
    sequential: tuple = None  # arguments of the version whose output is the right one; None: there is none
    prints_figures: bool = False  # prints lines `name nanoseconds`, and these are the figures, not the time of the run
    points: tuple = None  # the only points of interest; None: those that are asked for
    client: tuple = ()  # the program is a server: the arguments of the client that loads it (served.py)
    draws: int = 0  # runs to draw, where what counts is how many different results they print

    @property
    def title(self):
        return f"{self.name} {self.threads}" if self.threads else self.name

    @property
    def of_papers(self):
        """Papers and targets speak of it: it is a workload, not just a program of the same name."""
        return bool(self.sequential)

    @property
    def present(self):
        return os.access(self.program, os.X_OK)

    def words(self, arguments, path):
        return [self.program] + [word.replace("{input}", path) for word in arguments]

    def command(self, path=""):
        return self.words(self.arguments, path)


@dataclasses.dataclass(frozen=True)
class Column:
    """A way to run a case: a point of Order x View, or a command line with places for the case's own."""

    name: str
    prefix: tuple = ()  # a point: what stands before the command
    template: str = ""
    base: str = BASE  # the column that it is compared with
    makes: bool = False  # recordings
    replay_of: str = ""  # the column whose recordings this one replays

    def command(self, case, path=""):
        if self.replay_of:
            return list(self.prefix)
        command = case.command(path)
        if not self.template:
            return list(self.prefix) + command
        values = {
            "command": command,
            "arguments": command[1:],
            "program": command[:1],
            "name": [os.path.basename(case.program)],
            "threads": [str(case.threads)],
            "size": [case.size],
        }
        words = []
        for word in shlex.split(self.template):
            whole = re.fullmatch(r"\{(\w+)\}", word)
            if whole and whole[1] in values:
                words += values[whole[1]]
            else:
                words.append(re.sub(r"\{(\w+)\}", lambda m: " ".join(values[m[1]]) if m[1] in values else m[0], word))
        return words


def recording_column(point, weir):
    """`point` is record:VIEW or replay:VIEW, with -NAME for each optimization that the recording is made without."""
    what, _, rest = point.partition(":")
    view, *without = rest.split("-")
    if view not in RECORDED_VIEWS or not all(without):
        raise Misuse(f"no point '{point}': recordings are made at the views {', '.join(RECORDED_VIEWS)}")
    if what == REPLAY:
        made_by = f"{RECORD}:{rest}"
        return Column(point, (weir, "replay", RECORDING), base=made_by, replay_of=made_by)
    left_out = ("--without", ",".join(without)) if without else ()
    return Column(point, (weir, "record", "--view", view, *left_out, "--quiet", "-o", RECORDING, "--"), makes=True)


def with_their_recordings(points):
    """The points, each replay right behind what makes its recording."""
    ordered = []
    for point in points:
        if point.startswith(REPLAY + ":"):
            made_by = point.replace(REPLAY, RECORD, 1)
            ordered += [made_by] if made_by not in ordered else []
            ordered.insert(ordered.index(made_by) + 1, point)
        elif "+" in point:  # behind what it is compared with
            ordered += [point.rsplit("+", 1)[0], point]
        else:
            ordered.append(point)
    return tuple(dict.fromkeys(ordered))


CHECKERS = ("check", "annotated", "keys", "tsan", "helgrind")


def checker_column(name, weir):
    """The race checkers. ThreadSanitizer's programs are made by the build's target tsan_workloads; its runtime does not start where the
    kernel scatters mappings widely, so nothing is scattered for it."""
    if name == "check":
        return Column(name, (weir, "check", "--"))
    if name in ("annotated", "keys"):  # the same program with sharing policies, by weir-cc; native is the one without
        folder = os.path.join(os.path.dirname(os.path.dirname(weir)), "bench", "annotated")
        enforcer = "mpk" if name == "keys" else "process"
        return Column(name, template=f"{shlex.quote(weir)} check --policies=declared --enforcer={enforcer} -- {shlex.quote(folder)}/{{name}} {{arguments}}")
    if name == "helgrind":
        return Column(name, template="valgrind --tool=helgrind -q --log-file=/dev/null {command}")
    folder = os.path.join(os.path.dirname(os.path.dirname(weir)), "bench", "tsan")
    return Column(name, template=f"setarch -R {shlex.quote(folder)}/{{name}} {{arguments}}")


WAYS = ("mprotect", "named")


def other_way(point, way, weir):
    """The same point in another way, compared with it: pages tracked by mprotect; a recording that only names the program's files."""
    column = point_column(point, weir)
    record = (weir, "record")
    if way not in WAYS or column.template or column.replay_of or (way == "named" and column.prefix[:2] != record):
        raise Misuse(f"no point '{point}+{way}': POINT+mprotect, and record:VIEW+named, are other ways of a point of Order x View, of a recording, or of check")
    prefix = ("env", "WEIR_PAGES=mprotect", *column.prefix) if way == "mprotect" else (*record, "--files", "name", *column.prefix[2:])
    return dataclasses.replace(column, name=f"{point}+{way}", prefix=prefix, base=point)


def point_column(point, weir):
    """`point` is ORDER:VIEW, of a recording, or a race checker; or another way of one."""
    if "+" in point:
        return other_way(*point.rsplit("+", 1), weir)
    if point in CHECKERS:
        return checker_column(point, weir)
    order, _, view = point.partition(":")
    if order in (RECORD, REPLAY):
        return recording_column(point, weir)
    if order not in ORDERS or view not in VIEWS:
        raise Misuse(
            f"no point '{point}': a point is ORDER:VIEW, with {' or '.join(ORDERS)} and {' or '.join(VIEWS)}; or it is "
            f"record:VIEW or replay:VIEW, or one of {', '.join(CHECKERS)}"
        )
    return Column(point, (weir, "run", "--order", order, "--view", view, "--"))


def own_column(definition):
    """`definition` is NAME=COMMAND."""
    name, equals, template = definition.partition("=")
    if not equals or not re.fullmatch(r"[\w.+-]+", name) or name == BASE or not template.strip():
        raise Misuse(f"no column '{definition}': it is NAME=COMMAND, where {{command}} stands for what is measured")
    if not re.search(r"\{(command|name|program)\}", template):
        raise Misuse(
            f"the column '{name}' never says {{command}}, {{program}} or {{name}}: it would run the same for every program"
        )
    try:
        shlex.split(template)
    except ValueError as error:
        raise Misuse(f"the column '{name}': {error}") from error
    return Column(name, template=template)
