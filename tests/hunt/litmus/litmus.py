#!/usr/bin/env python3
"""One litmus test under weir hunt --memory tso: an outcome that x86-TSO allows is found, and comes
again each time; one that it does not allow is never seen.
usage: litmus.py BUILD NAME [--runs N]"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REPEATS = 20


def manifest():
    tests = {}
    for line in (HERE / "MANIFEST").read_text().splitlines():
        if line and not line.startswith("#"):
            name, allowed, _ = (word.strip() for word in line.split("|"))
            tests[name] = allowed == "yes"
    return tests


def build(folder):
    folder.mkdir(parents=True, exist_ok=True)
    source, target = HERE / "litmus.c", folder / "litmus"
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        part = target.with_name(f"litmus.{os.getpid()}")
        subprocess.run([os.environ.get("CC", "gcc"), "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread",
                        source, "-o", part], check=True)
        part.rename(target)
    return target


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("name")
    parser.add_argument("--runs", type=int)
    options = parser.parse_args()
    is_allowed = manifest()[options.name]
    weir, program = options.build.resolve() / "bin/weir", build(options.build.resolve() / "tests/hunt")
    runs = options.runs or (2000 if is_allowed else 200)  # ten rounds each
    done = subprocess.run([weir, "hunt", "--no-recording", "--memory", "tso", "--runs", str(runs), "--shrink-time", "0",
                           "--format", "json", "--", program, options.name], capture_output=True, text=True)
    if done.returncode not in (0, 66):
        sys.exit(f"{options.name}: weir hunt ended with {done.returncode}:\n{done.stderr}")
    report = json.loads(done.stdout)["hunts"][0]
    if bool(report["failures"]) != is_allowed:
        sys.exit(f"{options.name}: {'not ' if is_allowed else ''}seen in {report['schedules']} schedules\n{done.stderr}")
    print(f"{options.name}: {'seen' if is_allowed else 'not seen'} in {report['schedules']} schedules")
    if not is_allowed:
        return
    schedule = report["failures"][0]["schedule"]
    for _ in range(REPEATS):
        again = subprocess.run([weir, "run", "--order", "serial", "--schedule", schedule, "--", program,
                                options.name], stdin=subprocess.DEVNULL, capture_output=True)
        if again.returncode != 1:
            sys.exit(f"{options.name}: {schedule} ends with {again.returncode}, not 1: {again.stderr.decode()}")


if __name__ == "__main__":
    main()
