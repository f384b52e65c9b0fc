"""What is measured (a case) and as what it is run (a column)."""

import dataclasses
import os
import re
import shlex

ORDERS, VIEWS = ("free", "token"), ("direct", "isolated")
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

    def command(self, case, path=""):
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


def point_column(point, weir):
    """`point` is ORDER:VIEW."""
    order, _, view = point.partition(":")
    if order not in ORDERS or view not in VIEWS:
        raise Misuse(f"no point '{point}': a point is ORDER:VIEW, with {' or '.join(ORDERS)} and {' or '.join(VIEWS)}")
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
