#!/usr/bin/env python3
"""weir hunt --races: what races is found, told with both sides and repeated by the printed command; what is right is not.

  races_test.py BUILD            planted.c, and every eighth twin of tests/hunt
  races_test.py BUILD all        every twin
"""
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = Path(sys.argv[1]).resolve()
WEIR = str(BUILD / "bin/weir")
failed = []


def check(condition, what):
    print(("ok      " if condition else "FAILED  ") + what, flush=True)
    if not condition:
        failed.append(what)


def hunt(*words):
    ended = subprocess.run([WEIR, "hunt", "--races", "--no-recording", "--jobs", "1", *words], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=300)
    return ended.returncode, ended.stdout, ended.stderr


def compile_to(folder, source, *more):
    target = Path(folder) / source.stem
    compiler = ["g++", "-std=c++20"] if source.suffix == ".cc" else ["gcc", "-std=gnu11"]
    subprocess.run([*compiler, "-O1", "-g", "-w", "-pthread", *more, str(source), "-o", str(target)], check=True)
    return str(target)


def planted(folder):
    source = HERE / "races/planted.c"
    program = compile_to(folder, source)
    lines = source.read_text().splitlines()
    for kind in (1, 2, 3, 4, 5):
        status, _, said = hunt("--runs", "40", "--shrink-time", "5", "--heap", "plain", "--", program, str(kind))
        marked = [n + 1 for n, line in enumerate(lines) if f"RACE {kind}" in line]
        check(status == 66 and "data race" in said, f"race {kind} is found")
        check(all(f"planted.c:{n}" in said for n in marked), f"race {kind} is told with both lines")
        check("first:" in said and "then:" in said and "object:" in said, f"race {kind} is told with both sides")
        command = next((line.strip() for line in said.splitlines() if line.strip().startswith("weir hunt --races")), "")
        again = subprocess.run([WEIR, *shlex.split(command)[1:]], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        check(again.returncode == 66 and "data race" in again.stderr, f"race {kind} is found again by: {command}")
    for kind in range(11, 20):
        status, _, said = hunt("--runs", "60", "--", program, str(kind))
        check(status == 0, f"nothing is said of {kind}" + ("" if status == 0 else f": {said}"))
        status, _, said = hunt("--runs", "20", "--heap", "plain", "--", program, str(kind))
        check(status == 0, f"nor with the heap as it is of {kind}" + ("" if status == 0 else f": {said}"))
    status, out, _ = hunt("--runs", "5", "--format", "json", "--", program, "1")
    failure = json.loads(out)["hunts"][0]["failures"][0]
    check(failure["kind"] == "race" and failure["races"][0]["what"], "JSON has the race")
    known = Path(folder) / "known"
    known.write_text("race:*counter*\n")
    check(hunt("--runs", "5", "--suppressions", str(known), "--", program, "1")[0] == 0, "a known race is passed over")


def twins(folder, every):
    rows = [line.split("|")[0].strip() for line in (HERE / "MANIFEST").read_text().splitlines()
            if re.match(r"[a-z0-9_]+ *\|", line)]
    racy = {line.split("|")[0].strip() for line in (HERE / "RACY_TWINS").read_text().splitlines() if re.match("[a-z]", line)}
    check(racy <= set(rows), "RACY_TWINS names programs of MANIFEST")
    for name in rows[::every]:
        source = next(path for path in (HERE / f"programs/{name}.c", HERE / f"programs/{name}.cc") if path.exists())
        program = compile_to(folder, source, "-DFIXED", *(["-fopenmp"] if name.startswith("omp") else []))
        status, _, said = hunt("--runs", "20", "--time", "60", "--shrink-time", "0", "--", program)
        if name in racy:
            check(status == 66 and "data race" in said, f"the twin of {name} races")
        else:
            check(status == 0, f"the twin of {name} has no race" + ("" if status == 0 else f": {said}"))


with tempfile.TemporaryDirectory() as place:
    planted(place)
    twins(place, 1 if "all" in sys.argv[2:] else 8)
sys.exit(1 if failed else 0)
