#!/usr/bin/env python3
"""Programs of tests/programs under many schedules of Order serial: each ends as their MANIFEST says, prints
what they may print, and a schedule that runs twice is the same run twice: the same schedule log.
usage: schedules.py BUILD [NAME...] [--schedules N] [--twice N] [--first I] [--seconds S] [--keep FOLDER] [--piece I/N]
--piece 2/5: the second fifth of the programs. The last lines sum up.
--seconds: a program gets no schedule more after so long. The second run has random delays. Without names: all programs, a line each; then ./check is not enough time."""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
LIMIT = float(os.environ.get("LIMIT", "60"))  # seconds of one run


def rows(path):
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            yield [word.strip() for word in line.split("|")]


def status_of(expected):
    kind, value = expected.split("=")
    return int(value) if kind == "exit" else 128 + signal.Signals["SIG" + value].value


def schedule(number, steps, is_long):
    """The number-th: all strategies take turns. Of long programs, those that need not look at each step."""
    length = max(steps, 16)
    often = (0.0005, 0.003, 0.02)[number // 7 % 3]
    kinds = ["w3:default", f"w3:random:seed={number},p={often}", f"w3:pct:seed={number},depth={2 + number % 4},length={length}",
             f"w3:pb:seed={number},bound={1 + number % 3},length={length}", f"w3:pos:seed={number}",
             f"w3:race:seed={number},length={length}", f"w3:surw:seed={number},at=0x0"]
    return kinds[number % (4 if is_long else 7)]


class Program:
    def __init__(self, build, row):
        self.name, args, self.mode, expected = row[:4]
        self.args, self.want = args.split(), status_of(expected)
        self.weir, self.binary = build / "bin/weir", build / "tests/programs" / self.name
        self.options = ["--virtual", "random"] if self.name == "cpu_clocks" else []  # as in serial_point.sh
        self.native = None

    def run(self, folder, words, more=()):
        """(status, output, errors, log) of one run."""
        place = folder / "place"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        log = folder / "log"
        log.unlink(missing_ok=True)
        command = [self.binary, *self.args]
        if words:
            command = [self.weir, "run", "--order", "serial", "--schedule", words, "--schedule-log", log, *self.options, *more,
                       "--", *command]
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=place,
                                       start_new_session=True)
            try:
                status = process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                status = None
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        if status is not None and status < 0:
            status = 128 - status
        text = log.read_text() if log.exists() else ""
        return status, (folder / "out").read_bytes(), (folder / "err").read_bytes(), text

    def wrong(self, folder, words, result):
        status, out, err, _ = result
        if status != self.want:
            return f"{words}: status {status} instead of {self.want}: {err[-1500:].decode(errors='replace')}"
        if self.mode == "exact":
            if self.native is None:
                self.native = self.run(folder, None)[1]
            if out != self.native:
                return f"{words}: another output than natively: {out[-800:].decode(errors='replace')}"
        return None


def unlike(first, second):
    """The first line in which two logs differ."""
    a, b = first.splitlines(), second.splitlines()
    for i in range(max(len(a), len(b))):
        left, right = (lines[i][:200] if i < len(lines) else "(its end)" for lines in (a, b))
        if left != right and not left.startswith("list "):
            return f"line {i}: {left}  /  {right}"
    return "the list of switches"


def tried(program, options, folder, is_outside, is_long):
    twice = 0 if is_outside else options.twice
    ran, worst = 0, 0.0
    steps, began = 1000, time.monotonic()
    for number in range(options.first, options.first + options.schedules):
        words = schedule(number, steps, is_long)
        start = time.monotonic()
        if start - began > options.seconds:
            break
        result = program.run(folder, words)
        ran += 1
        worst = max(worst, time.monotonic() - start)
        said = program.wrong(folder, words, result)
        if said is None and number - options.first < twice:
            again = program.run(folder, words, ("--delay", str(number + 1)))
            said = program.wrong(folder, words, again)
            if said is None and again[3] != result[3]:
                said = f"{words}: another run the second time: {unlike(result[3], again[3])}"
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{program.name}.1").write_text(result[3])
                    (options.keep / f"{program.name}.2").write_text(again[3])
        if said:
            return f"FAILED after {ran} schedules: {said}"
        if known := re.search(r"^steps (\d+)$", result[3], re.M):
            steps = int(known[1])
    return f"{ran} schedules, {worst:.2f} s the longest"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--schedules", type=int, default=7)
    parser.add_argument("--twice", type=int, default=7)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--piece", type=lambda text: tuple(int(part) for part in text.split("/")), default=(1, 1))
    options = parser.parse_args()
    build = options.build.resolve()
    refused = {row[0] for row in rows(TESTS / "serial/EXCEPT")}
    known = {kind: {row[0] for row in rows(TESTS / "serial/OUTSIDE") if row[1] == kind} for kind in ("outside", "long")}
    chosen = [row for row in rows(TESTS / "programs/MANIFEST")
              if row[0] not in refused and (not options.names or row[0] in options.names)]
    piece, pieces = options.piece
    chosen = chosen[len(chosen) * (piece - 1) // pieces:len(chosen) * piece // pieces]
    failed, ran, whole = [], 0, 0
    with tempfile.TemporaryDirectory() as work:
        for row in chosen:
            said = tried(Program(build, row), options, pathlib.Path(work), row[0] in known["outside"], row[0] in known["long"])
            count = int(re.search(r"\d+(?= schedules)", said)[0])
            ran += count
            whole += count == options.schedules
            if said.startswith("FAILED"):
                failed.append(row[0])
            print(f"{row[0]}: {said}", flush=True)
    print(f"{len(chosen)} programs, {ran} schedules; {whole} programs had all {options.schedules}; "
          f"{len(failed)} failed{': ' if failed else ''}{' '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
