#!/usr/bin/env python3
"""What others may see half made is found by weir hunt: changes of one variable that compilers make one
instruction of (updates/updates.c, at each level, by each compiler), each form of such an instruction
(updates/forms.c), and stores in several parts (updates/stores.c). Twins with a lock report nothing.
One that faults between its steps is what it is natively (updates/faults.c).
usage: updates_test.py BUILD [all] [--table]
Without `all`: -O2, C, and each fifth form. --table prints the number of schedules to each failure."""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MOST = 60  # schedules in which each is found
KINDS = re.findall(r"^#define (\w+) (\d+)$", (HERE / "updates/updates.c").read_text(), re.M)
STORES = re.findall(r'\{"(\w+)", \w+, "', (HERE / "updates/stores.c").read_text())


class Test:
    def __init__(self, options):
        self.weir = str(options.build / "bin/weir")
        self.folder = options.build.resolve() / "tests/hunt/updates"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.numbers = {}
        self.failures = []

    def build(self, name, source, command):
        target = self.folder / f"{name}.{os.getpid()}"
        done = subprocess.run([*command, "-g", "-Wall", "-Wextra", "-pthread", str(HERE / "updates" / source),
                               "-o", str(target)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr}")
        return target

    def hunt(self, target, runs, arguments=()):
        done = subprocess.run([self.weir, "hunt", "--quiet", "--no-recording", "--runs", str(runs), "--shrink-time", "0",
                               "--jobs", "1", "--format", "json", "--", target, *arguments],
                              capture_output=True, text=True, timeout=120)
        if done.returncode not in (0, 66):
            sys.exit(f"{target}: weir hunt ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)["hunts"][0]

    def is_found(self, name, target, arguments=()):
        report = self.hunt(target, MOST, arguments)
        found = report["failures"]
        if not found:
            self.failures.append(f"{name}: not found in {report['schedules']} schedules")
        elif found[0]["what"] != "exit status 1" and not found[0]["what"].startswith("exit status 1:"):
            self.failures.append(f"{name}: {found[0]['what']}: {found[0]['command']}")
        elif found[0]["alike"] != found[0]["repeated"]:
            self.failures.append(f"{name}: the schedule does not decide it")
        else:
            self.numbers[name] = found[0]["number"]

    def is_silent(self, name, target, runs, arguments=()):
        for failure in self.hunt(target, runs, arguments)["failures"]:
            self.failures.append(f"{name}: {failure['what']}: {failure['command']}")

    def faults_alike(self, target, seeds):
        native = subprocess.run([target], capture_output=True, text=True, check=True).stdout
        for seed in range(seeds):
            for schedule in (f"w3:random:seed={seed},p=0.9", f"w3:pos:seed={seed}"):
                done = subprocess.run([self.weir, "run", "--order", "serial", "--schedule", schedule, "--", target],
                                      capture_output=True, text=True, timeout=120)
                if done.stdout != native:
                    self.failures.append(f"{schedule}: natively\n{native}here\n{done.stdout}{done.stderr}")


def compilers(everything):
    clang = next((one for one in ("clang", "clang-14") if shutil.which(one)), None)
    found = {"gcc": ["gcc"]}
    if clang:
        found["clang"] = [clang]
    else:
        print("clang is not there: not tried")
    if everything:
        found["g++"] = ["g++"]
        found["gcc -fopenmp"] = ["gcc", "-fopenmp"]
        if clang:
            found["clang++"] = [clang, "-xc++"]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("all", nargs="?", choices=["all"])
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    test = Test(options)
    levels = ["-O0", "-O1", "-O2", "-O3"] if options.all else ["-O2"]
    for name, compiler in compilers(options.all).items():
        for level in levels:
            for kind, number in KINDS:
                command = [*compiler, level, f"-DKIND={number}"]
                target = test.build("update", "updates.c", command)
                test.is_found(f"{kind} {name} {level}", target)
                target = test.build("update", "updates.c", [*command, "-DFIXED"])
                test.is_silent(f"{kind} {name} {level}, with a lock", target, 100 if options.all else 20)
    target = test.build("forms", "forms.c", ["gcc", "-O2", "-mno-red-zone"])
    forms = int(subprocess.run([target, "count"], capture_output=True, text=True, check=True).stdout)
    for form in range(0, forms, 1 if options.all else 5):
        test.is_found(f"form {form}", target, [str(form), "find"])
    test.is_silent("all forms", target, 400 if options.all else 40, ["all"])
    target = test.build("stores", "stores.c", ["gcc", "-O2", "-mno-red-zone"])
    for store in STORES:
        if subprocess.run([target, store]).returncode == 77:
            print(f"{store}: not on this processor")
            continue
        test.is_found(f"store {store}", target, [store, "find"])
        test.is_silent(f"store {store}", target, 200 if options.all else 20, [store])
    test.faults_alike(test.build("faults", "faults.c", ["gcc", "-O1"]), 40 if options.all else 6)
    for path in test.folder.glob(f"*.{os.getpid()}"):
        path.unlink()
    if options.table:
        for name, number in test.numbers.items():
            print(f"| {name} | {number} |")
    if test.failures:
        sys.exit("\n".join(test.failures))
    print(f"{len(test.numbers)} found, after {statistics.median(test.numbers.values()):.0f} schedules in the median, "
          f"{max(test.numbers.values())} at most")


if __name__ == "__main__":
    main()
