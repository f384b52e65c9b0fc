#!/usr/bin/env python3
"""det, record, replay and check on the kernels that Debian's releases have, each in an emulated machine.

usage: suite.py BUILD SUITE [--short | --all | NAME ...]     SUITE: bullseye (Linux 5.10), bookworm (6.1) or trixie (6.12)

Runs PROGRAMS, the first of them (SHORT), all programs of tests/programs, or those named. What each command promises is looked at by tests/kernels/case. A program that does not work
natively in the machine is left out, and said. PAGES=mprotect (environment) sets WEIR_PAGES in the machine, OVERCOMMIT=2 its vm.overcommit_memory. TABLE=FILE: appends a row for docs/COMPATIBILITY.md.
"""
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "emulated"))
sys.dont_write_bytecode = True
import machine  # noqa: E402
import test_programs  # noqa: E402

PROGRAMS = ["racey", "mutex_order", "kernel_fills_memory", "fork_in_thread", "racey_heap", "std_future", "mmap_shared_by_threads", "exec_from_thread", "signal_queue",
            "cancel_blocked"]
SHORT = 4
SMALLER = {"kernel_fills_memory": "2"}  # arguments: an emulated page fault is dear
RACES = ["counter_plain_racy", "counter_plain_clean", "publish_pointer_racy", "publish_pointer_clean"]
COMMANDS = ["det", "direct", "record", "record-isolated", "check"]
COMMANDS_OF_RACES = {True: "check-racy", False: "check"}


def races(folder):
    """(name, program, whether it is racy) of RACES, compiled."""
    for line in (HERE.parent / "races" / "MANIFEST").read_text().splitlines():
        fields = [field.strip() for field in line.split("|")]
        if fields[0] not in RACES:
            continue
        name, language, truth, _, _, flags = fields
        compiler, ending = ("gcc", "c") if language == "C" else ("g++", "cc")
        program = Path(folder) / name
        subprocess.run([compiler, "-g", "-pthread", *(word for word in flags.split() if word.startswith("-")),
                        str(HERE.parent / "races" / "programs" / f"{name}.{ending}"), "-o", str(program)], check=True)
        yield name, program, truth == "racy"


def launcher(folder):
    """A program that executes another."""
    source, program = Path(folder) / "launcher.c", Path(folder) / "launcher"
    source.write_text("#include <unistd.h>\nint main(int n, char** words) { return n > 1 ? execv(words[1], words + 1) : 0; }\n")
    subprocess.run(["gcc", str(source), "-o", str(program)], check=True)
    return program


def sources():
    """What weir check reads to tell atomic operations from others."""
    folder = HERE.parent / "races" / "programs"
    return [folder / "program.h"] + [path for path in folder.iterdir() if path.stem in RACES]


def cases(build, folder, wanted):
    """(program's name, command, mode, status, program, arguments)"""
    chosen = {(): PROGRAMS, ("--short",): PROGRAMS[:SHORT]}.get(tuple(wanted), wanted)
    for name, arguments, mode, status in test_programs.lines():
        if wanted != ["--all"] and name not in chosen:
            continue
        program = build / "tests" / "programs" / name
        arguments = SMALLER.get(name, arguments)
        for command in ["native"] + COMMANDS:
            if command != "check" or mode == "exact":  # the others are racy, as far as they are not ordered
                yield name, command, mode, status, program, arguments
    if chosen is not wanted:
        yield "launcher", "gone", "det", 0, launcher(folder), f"{build / 'tests' / 'programs' / 'racey'} 4"
        for name, program, is_racy in races(folder):
            yield name, COMMANDS_OF_RACES[is_racy], "det", 0, program, ""


REFUSES = ["det", "run --order token --view direct", "check", "record -o /tmp/refused"]


def overcommit(vm, weir, program):
    """Where the kernel counts what is reserved, all commands are refused with the reason and its mend, and doctor says the same."""
    said = "grep -q 'vm.overcommit_memory=2.*sysctl vm.overcommit_memory=0' /tmp/said"
    jobs = ["echo 2 >/proc/sys/vm/overcommit_memory"]
    for words in REFUSES:
        jobs.append(f"{weir} {words} -- {program} 4 >/tmp/said 2>&1; status=$?; [ $status = 125 ] && {said} || {{ echo \"fails: {words}: status $status\"; cat /tmp/said; }}")
    jobs.append(f"{weir} doctor >/tmp/said 2>&1; status=$?; [ $status = 1 ] && {said} || {{ echo \"fails: doctor: status $status\"; cat /tmp/said; }}")
    jobs.append("[ ! -e /tmp/refused ] || echo 'fails: a recording is left'")
    vm.add("overcommit racey", "; ".join(jobs + ["echo 0 >/proc/sys/vm/overcommit_memory"]))


def main():
    build, release, wanted = Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:]
    machine.need(release)
    weir = build / "bin" / "weir"
    failed, counts = 0, {}
    with machine.folder() as folder:
        vm = machine.Machine(folder, release)
        for file in (weir, build / "lib" / "libweir.so", HERE / "case"):
            vm.bring(file)
        pages = os.environ.get("PAGES", "")
        prefix = f"WEIR_PAGES={pages} " if pages else ""
        vm.add("kernel", "uname -r")
        if "OVERCOMMIT" in os.environ:
            vm.add("overcommit", f"echo {os.environ['OVERCOMMIT']} >/proc/sys/vm/overcommit_memory; grep -H . /proc/sys/vm/overcommit_*; grep Commit /proc/meminfo")
        vm.add("doctor", f"{prefix}{weir} doctor")
        for file in sources():
            vm.bring(file)
        outside = test_programs.outside()
        chosen = list(cases(build, folder, wanted))
        for name, command, mode, status, program, arguments in chosen:
            vm.bring(program)
            vm.add(f"{command} {name}", f"{prefix}sh {HERE / 'case'} {weir} {command} {mode} {status} {outside.get(name, 'nothing')} {program} {arguments}")
        is_asked = wanted in ([], ["--short"]) and "OVERCOMMIT" not in os.environ
        if is_asked:
            overcommit(vm, weir, build / "tests" / "programs" / "racey")
        results, text = vm.run(limit=float(os.environ.get("LIMIT", "1500")))
    if "@@ end" not in text:
        print(f"the machine did not come to its end:\n{text[-3000:]}")
        failed += 1
    kernel = results.get("kernel", (0, "?"))[1]
    print(f"Linux {kernel}, {release}{', WEIR_PAGES=' + pages if pages else ''}")
    print(results.get("doctor", (0, "doctor did not run"))[1])
    left = {name for name, command, *_ in chosen if command == "native" and results.get(f"native {name}", (0, ""))[1].split("\n")[-1] != "works"}
    for name, command, *_ in chosen:
        said = results.get(f"{command} {name}", (0, "fails: did not run"))[1]
        verdict = said.split("\n")[-1]
        if command == "native" or name in left:
            continue
        is_right = verdict == "works"
        print(f"{'ok' if is_right else 'FAILED':6} {command} {name}: {verdict}")
        if verdict.startswith("fails"):
            print("    " + said.replace("\n", "\n    "))
        counts.setdefault(command.removesuffix("-racy"), Counter())[verdict.split(":")[0]] += 1
        failed += not is_right
    if is_asked:
        said = results.get("overcommit racey", (0, "fails: did not run"))[1].strip()
        print(f"{'FAILED' if said else 'ok':6} vm.overcommit_memory=2 {said or 'is refused'}")
        failed += bool(said)
    for name in sorted(left):
        print(f"left   {name}: natively it does not work in this machine: {results.get(f'native {name}', (0, 'did not run'))[1]}")
    failed += len(left) > len(chosen) / 24  # a quarter of the programs
    cells = []
    for command in COMMANDS:
        of = counts.get(command, Counter())
        cells.append(f"{of['works']} of {sum(of.values())}" + (f", {of['refused']} refused" if of["refused"] else ""))
    row = f"| {kernel} ({release}) | " + " | ".join(cells) + " |"
    print(row)
    if "TABLE" in os.environ:
        with open(os.environ["TABLE"], "a") as file:
            print(row, file=file)
    return 1 if failed else 0


if __name__ == "__main__":
    machine.exit_with(main)
