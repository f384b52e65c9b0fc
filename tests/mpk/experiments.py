#!/usr/bin/env python3
"""How many violations hash collisions hide, and what changing the hash function does about it: the experiments of PUSh, section 5.3, in an emulated machine.

usage: experiments.py BUILD

Prints a table beside the paper's. RUNS executions of each line and column (default 10; the paper: 50). What occurs again and again must be found in every execution where
the function changes, and in one of three at least, and not in all of them, where it stays: the chance of failing by bad luck is below one in a thousand.
"""
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "emulated"))
sys.path.insert(0, str(HERE.parent / "declared"))
sys.dont_write_bytecode = True
import machine  # noqa: E402
import run as declared  # noqa: E402

RUNS = int(os.environ.get("RUNS", "10"))
KINDS = ["read", "locked", "churn", "once"]
MILLISECONDS = 600
SETTINGS = {  # columns: threads, options. The paper's interval of 5 s in runs of 15 s and more; here 20 ms in 600.
    "14 domains, changed": (8, "rehash=20"),
    "2 domains, fixed": (2, "rehash=0,domains=2"),
    "2 domains, changed": (2, "rehash=20,domains=2"),
}
PAPER = {  # what section 5.3 says of races of that kind
    "read": ("every run", "half", "every run"),
    "locked": ("every run", "half", "every run"),
    "churn": ("every run", "every run", "every run"),
    "once": ("43 of 50", "half", "half"),
}


def main():
    build_folder = Path(sys.argv[1]).resolve()
    machine.need()
    with machine.folder() as folder:
        vm = machine.Machine(folder)
        dump, program = Path(folder) / "dump", Path(folder) / "planted"
        subprocess.run(["g++", "-std=c++20", "-O1", "-I", str(machine.ROOT / "src"), str(HERE.parent / "declared" / "dump.cc"), "-o", str(dump)], check=True)
        declared.compile_program("gcc", HERE / "planted" / "planted.c", program, "-std=gnu11", "-I", HERE.parent / "declared")
        library = build_folder / "lib" / "libweir.so"
        for file in (dump, program, library):
            vm.bring(file)
        for kind in KINDS:
            for column, (threads, options) in SETTINGS.items():
                for turn in range(RUNS):
                    vm.add(f"{kind}|{column}|{turn}",
                           f"{dump} new /tmp/found && {{ LD_PRELOAD={library} LD_BIND_NOW=1 WEIR_OPTIONS=order=free,view=guarded,enforcer=mpk,cache=/tmp/cache,findings=9,{options} "
                           f"timeout 100 {program} {kind} {threads} {MILLISECONDS}; echo \"@ended $?\"; }} 9<>/tmp/found; {dump} show /tmp/found; rm -f /tmp/found")
        results, text = vm.run(limit=float(os.environ.get("LIMIT", "1500")))
    found, failures = {}, []
    for kind in KINDS:
        rule = "lock-not-held" if kind == "locked" else "forbidden"
        for column in SETTINGS:
            found[kind, column] = 0
            for turn in range(RUNS):
                status, output = results.get(f"{kind}|{column}|{turn}", (None, "it did not run"))
                if "ok\n@ended 0" not in output:
                    failures.append(f"{kind}, {column}: {output[-500:]}")
                    continue
                reports = output.partition("@ended 0\n")[2].split("\n")
                others = [line for line in reports if line and not line.startswith(f"policy {rule} ")]
                if others:
                    failures.append(f"{kind}, {column}: not expected: {others[0]}")
                found[kind, column] += any(line.startswith(f"policy {rule} ") for line in reports)
    print(f"Executions of {RUNS} in which the violation was found (in brackets: the paper, section 5.3)")
    print(f"{'':8}" + "".join(f"{column:>34}" for column in SETTINGS))
    for kind in KINDS:
        cells = [f"{found[kind, column]} of {RUNS} ({said})" for column, said in zip(SETTINGS, PAPER[kind])]
        print(f"{kind:8}" + "".join(f"{cell:>34}" for cell in cells))
    first, fixed, changed = SETTINGS
    for kind in KINDS[:3]:
        for column in (first, changed):
            if found[kind, column] < RUNS:
                failures.append(f"{kind}, {column}: it occurs again and again, and was missed in {RUNS - found[kind, column]} of {RUNS}")
    missed = sum(RUNS - found[kind, fixed] for kind in ("read", "locked", "once"))
    if not 0 < missed < 3 * RUNS:
        failures.append(f"{fixed}: {missed} of {3 * RUNS} were missed; about half should be")
    if found["once", first] < RUNS / 2:
        failures.append(f"once, {first}: found in {found['once', first]} of {RUNS}")
    for failure in failures:
        print("FAILED " + failure)
    if "@@ end" not in text:
        print(f"the machine did not come to its end:\n{text[-3000:]}")
    return 1 if failures or "@@ end" not in text else 0


if __name__ == "__main__":
    machine.exit_with(main)
