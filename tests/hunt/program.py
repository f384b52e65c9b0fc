#!/usr/bin/env python3
"""One program with a planted bug under weir hunt: the bug is found, the command that is printed shows
it again, and of the twin without the bug nothing is reported; its recording replays.
usage: program.py BUILD NAME [--bug RUNS] [--fixed RUNS]"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

import planted


def hunt(weir, program, runs, *more):
    done = subprocess.run([weir, "hunt", "--runs", str(runs), "--format", "json", *more, "--", program],
                          capture_output=True, text=True)
    if done.returncode not in (0, 66):
        sys.exit(f"{program}: weir hunt ended with {done.returncode}:\n{done.stderr}")
    return done, json.loads(done.stdout)["hunts"][0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("name")
    parser.add_argument("--bug", type=int, default=2000)
    parser.add_argument("--fixed", type=int, default=200)
    options = parser.parse_args()
    weir = str(options.build / "bin/weir")
    program = next(one for one in planted.manifest() if one.name == options.name)
    folder = options.build.resolve() / "tests/hunt"

    recording = folder / f"{program.name}.recording.{os.getpid()}"
    done, report = hunt(weir, program.build(folder), options.bug, "--shrink-time", "10", "--recording", recording, *program.options)
    if not report["failures"]:
        sys.exit(f"{program.name}: not found in {report['schedules']} schedules")
    failure = report["failures"][0]
    if failure["alike"] != failure["repeated"]:
        sys.exit(f"{program.name}: the schedule does not decide it: {failure['difference']}")
    if program.kind == "heap" and failure["kind"] != "heap":
        sys.exit(f"{program.name}: it is found, but not as misuse of the heap: {failure['what']}")
    print(f"{program.name}: {failure['what']}: schedule {failure['number']}, {failure['strategy']}; "
          f"{sum(one['chosen'] for one in failure['switches'])} of {failure['switches_before']} switches")

    # As a user pastes it, without the pipe that hides the status.
    command = failure["command"].removesuffix(" | cat").replace("weir ", weir + " ", 1)
    again = subprocess.run(command, shell=True, capture_output=True, text=True)
    expected = {"exit": (1,), "deadlock": (66,), "livelock": (66,), "heap": (66,), "output": (0,), "signal": range(-64, 0)}
    expected["signal"] = [*expected["signal"], *range(129, 193)]
    if again.returncode not in expected[failure["kind"]]:
        sys.exit(f"{program.name}: the command ends with {again.returncode}: {command}\n{again.stderr}")

    if not failure["recording"]:
        sys.exit(f"{program.name}: no recording is kept:\n{done.stderr}")
    replayed = subprocess.run([weir, "replay", "--verify", recording], capture_output=True, text=True, timeout=120)
    shutil.rmtree(recording)
    if replayed.returncode != 0:
        sys.exit(f"{program.name}: its recording is not replayed alike:\n{replayed.stderr}")

    done, report = hunt(weir, program.build(folder, fixed=True), options.fixed, *program.options)
    if report["failures"]:
        sys.exit(f"{program.name}, without its bug, is reported:\n{done.stderr}")
    print(f"{program.name}, without its bug: nothing in {report['schedules']} schedules")


if __name__ == "__main__":
    main()
