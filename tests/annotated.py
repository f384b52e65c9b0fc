#!/usr/bin/env python3
"""The ten programs of PUSh's evaluation with their sharing policies.

usage: annotated.py BUILD NAME [options]    nothing is reported, declared or inferred, and they compute what they compute without policies
       annotated.py BUILD --planted N       race number N of bench/workloads/PLANTED is reported, and nothing else
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/mpk"), str(ROOT / "tests/emulated")]
sys.dont_write_bytecode = True
import machine  # noqa: E402
import programs  # noqa: E402

BUILD = Path(sys.argv[1])


def plant(number):
    for line in (ROOT / "bench/workloads/PLANTED").read_text().splitlines():
        parts = [part.strip() for part in line.split("|")]
        if parts[0] == number:
            return parts[1], parts[2].split(), parts[3].split(), parts[4].split()
    sys.exit(f"PLANTED has no number {number}")


def check(program, policies, options, enforcer="process"):
    """Exit status, output, races."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [BUILD / "bin/weir", "check", f"--policies={policies}", f"--enforcer={enforcer}", "--format=json", "--output", report.name, "--", program, *options]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
        if done.returncode not in (0, 66):
            sys.exit(f"{policies}: status {done.returncode}\n{done.stderr}")
        return done.returncode, done.stdout, json.loads(Path(report.name).read_text())["races"]


def show(race):
    return f"{race['rule']}: {race['title']}"


def functions(race):
    return {frame.get("function") for side in race["sides"] for frame in side["stack"]}


# By processes; and by protection keys, where this machine has them: where two names have one domain a report may be missing in a run.
WAYS = [("declared", "process", 1), ("inferred", "process", 1)] + ([("declared", "mpk", 7)] if machine.has_keys() else [])


def main():
    if sys.argv[2] == "--planted":
        name, options, rules, places = plant(sys.argv[3])
        options = ["--size", "small", "--threads", "4", *options]
        unseen = f"planted.{sys.argv[3]}" in programs.exceptions()
        for policies, enforcer, tries in WAYS:
            if enforcer == "mpk" and unseen:
                tries = 1
            found = []
            while not found and tries:
                tries -= 1
                _, _, races = check(BUILD / "bench/planted" / sys.argv[3], policies, options, enforcer)
                found = [race for race in races if race["rule"] in rules and functions(race) & set(places)]
                others = [race for race in races if not functions(race) & set(places)]
                print(f"{policies}, {enforcer}: {len(races)} reports of race {sys.argv[3]} in {name}")
                if others:
                    sys.exit("something else is reported" + "".join("\n" + show(race) for race in races))
            if not found and not (enforcer == "mpk" and unseen):
                sys.exit("not found" + "".join("\n" + show(race) for race in races))
        return
    name, more = sys.argv[2], sys.argv[3:]
    for threads in ("2", "5", "8"):
        options = ["--size", "small", "--threads", threads, *more]
        plain = subprocess.run([str(BUILD / "bench" / name), *options], capture_output=True, text=True, timeout=60)
        annotated = subprocess.run([str(BUILD / "bench/annotated" / name), *options], capture_output=True, text=True, timeout=60)
        if plain.returncode or annotated.returncode or plain.stdout != annotated.stdout:
            sys.exit(f"natively: {plain.stdout}{plain.stderr}\nannotated: {annotated.stdout}{annotated.stderr}")
        for policies, enforcer, _ in WAYS:
            status, output, races = check(BUILD / "bench/annotated" / name, policies, options, enforcer)
            if races or status or output != plain.stdout:
                sys.exit(f"{policies}, {enforcer}, {threads} threads: status {status}\n{output}" + "".join("\n" + show(race) for race in races))
    print("ok")


main()
