#!/usr/bin/env python3
"""Programs that declare sharing policies, checked by protection keys in an emulated machine: the programs of tests/declared, those of this folder, a self-test of the machine.

usage: programs.py [--here] BUILD [NAME ...]    --here: not emulated, by this machine's own protection keys; and not the command

What is expected is said in the programs, as tests/declared/run.py has it, and in EXCEPT for what protection keys do not see. Two names may have the same domain, so a
report may be missing in a run (one in seven at most): a program runs until it has all its reports, RUNS times at most, and has no other in any run. One that is to have
none runs twice.
"""
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "emulated"))
sys.path.insert(0, str(HERE.parent / "declared"))
sys.dont_write_bytecode = True
import machine  # noqa: E402
import run as declared  # noqa: E402  (tests/declared/run.py: this file is __main__)

RUNS = int(os.environ.get("RUNS", "7"))


def exceptions():
    """NAME | what is said of it. `skip`: it is not run; `none`: it runs, and nothing is reported; `library`: reports are of places in the C library."""
    found = {}
    for line in (HERE / "EXCEPT").read_text().splitlines():
        if line and not line.startswith("#"):
            name, what, why = (word.strip() for word in line.split("|"))
            found[name] = (what, why)
    return found


def build(machine_folder, path):
    program = machine_folder / "programs" / path.stem
    program.parent.mkdir(exist_ok=True)
    if path.suffix == ".c":
        declared.compile_program("gcc", path, program, "-std=gnu11", "-iquote", HERE.parent / "declared")
    else:
        declared.compile_program("g++", path, program, "-std=c++17", "-iquote", HERE.parent / "declared")
    return program


def checked(build_folder, dump, program, options, expected):
    """Runs it checked, without the command, and shows what was found; again where that is too little."""
    library = build_folder / "lib" / "libweir.so"
    wanted = len(expected)
    most, enough = (RUNS, f"[ $(grep -c . /tmp/shown) -ge {wanted} ] && break") if expected else (2, "true")
    return (f"n=0; while [ $n -lt {most} ]; do n=$((n + 1)); echo @run; rm -f /tmp/found; {dump} new /tmp/found; "
            f"{{ LD_PRELOAD={library} LD_BIND_NOW=1 WEIR_OPTIONS=order=free,view=guarded,enforcer=mpk,cache=/tmp/cache,findings=9{options} timeout 300 {program}; "
            f"echo \"@ended $?\"; }} 9<>/tmp/found; {dump} show /tmp/found >/tmp/shown; cat /tmp/shown; {enough}; done")


def commands(weir, programs, vm):
    """The command in the machine: (name, what is run, exit status, what is said, what is not said)."""
    declared_folder, planted = HERE.parent / "declared", HERE / "planted"
    for source in (declared_folder / "handed_over_unordered.c", declared_folder / "threads.h", declared_folder / "private_written.c", planted / "by_flag.c"):
        vm.bring(source)
    folder = programs / "programs"
    for path in (declared_folder / "handed_over_unordered.c", declared_folder / "private_written.c", planted / "by_flag.c"):
        vm.bring(build(programs, path))
    seen = "protection keys keep threads"
    # Those that need no network: locks, barriers and queues that lie in objects of their own, and in locked ones.
    annotated = []
    for name in ("ctrace", "streamcluster", "ferret"):
        program = weir.parent.parent / "bench/annotated" / name
        vm.bring(program)
        annotated.append((f"annotated.{name}", f"{weir} check --enforcer=mpk -- {program} --size small --threads 3", 0,
                          ["no race found in what the program declares"], ["1 race found", "races found"]))
    return annotated + [
        ("doctor", f"{weir} doctor", None, ["protection keys", "15 of them"], []),
        # Found in one run of fourteen less than always: three times is enough.
        ("check", f"for i in 1 2 3; do {weir} check --enforcer=mpk -- {folder}/private_written >/tmp/said 2>&1; status=$?; "
                  "[ $status = 66 ] && break; done; cat /tmp/said; exit $status", 66,
         ["violation of a sharing policy", "private_written.c:", "1 race found", "ok\n"], ["no race found"]),
        ("auto", f"{weir} check --policies=declared --verbose -- {folder}/by_flag", 0, [seen], ["races found"]),
        ("process", f"{weir} check --enforcer=process --policies=declared --verbose -- /bin/true", None, [], [seen]),
        ("inferred", f"{weir} check --enforcer=mpk --policies=inferred -- {folder}/by_flag", 125, ["--policies=inferred needs --enforcer=process"], ["ok\n"]),
        ("unordered", f"{weir} check --enforcer=mpk --format=json --output=/tmp/json -- {folder}/handed_over_unordered; s=$?; cat /tmp/json; exit $s", 66,
         ['"rule": "unordered"'], []),
        ("ordered_unseen", f"{weir} check --enforcer=mpk --verbose -- {folder}/by_flag", 0, ["no race found", "not reported (__atomic"], []),
        ("no_source", f"rm {declared_folder}/handed_over_unordered.c; {weir} check --enforcer=mpk --verbose -- {folder}/handed_over_unordered", 0,
         ["is not there", "no race found"], []),
    ]


def judge_command(result, status, said, unsaid):
    if result is None:
        return "did not run"
    if status is not None and result[0] != status:
        return f"status {result[0]} instead of {status}: {result[1][-2000:]}"
    for text in said:
        if text not in result[1] + "\n":
            return f"does not say {text!r}: {result[1][-2000:]}"
    for text in unsaid:
        if text in result[1] + "\n":
            return f"says {text!r}: {result[1][-2000:]}"
    return None


def judge(source, expected, text):
    """(problem, complete): what is wrong with a run, if anything; whether it has all the reports."""
    said, ended, shown = text.partition("@ended ")
    if not ended:
        return f"no end: {text[-2000:]!r}", False
    code, _, shown = shown.partition("\n")
    if code != "0" or not said.endswith("ok\n"):
        return f"status {code}, output {said[-2000:]!r}\n{shown}", False
    found = declared.reports(source, shown)
    left = list(expected)
    for have in found:
        match = next((want for want in left if have[:4] == want[:4] and (want[4] is None or want[4] == have[4])), None)
        if match is None:
            return f"not expected: {have}\n    expected {expected}\n{shown}", False
        left.remove(match)
    return None, not left


def main():
    arguments = sys.argv[1:]
    is_here = arguments[0] == "--here"
    build_folder, wanted = Path(arguments[is_here]).resolve(), arguments[is_here + 1:]
    if not is_here:
        machine.need()
    except_for = exceptions()
    paths = sorted(p for folder in (HERE.parent / "declared", HERE / "programs") for p in folder.iterdir() if p.suffix in (".c", ".cc") and p.name != "dump.cc")
    paths = [p for p in paths if (not wanted or p.stem in wanted) and except_for.get(p.stem, ("",))[0] != "skip"]
    failed = 0
    with machine.folder() as folder:
        vm = machine.Here(folder) if is_here else machine.Machine(folder)
        dump = Path(folder) / "dump"
        subprocess.run(["g++", "-std=c++20", "-O1", "-I", str(machine.ROOT / "src"), str(HERE.parent / "declared" / "dump.cc"), "-o", str(dump)], check=True)
        vm.bring(dump)
        vm.bring(build_folder / "lib" / "libweir.so")
        vm.bring(build_folder / "bin" / "weir")
        sources = {}
        for path in paths:
            source = declared.Source(path)
            program = build(Path(folder), path)
            vm.bring(program)
            what = except_for.get(path.stem, ("",))[0]
            expected = [] if what == "none" else [(None, *rest) for _, *rest in source.expected] if what == "library" else source.expected
            sources[path.stem] = source, expected
            vm.add(path.stem, checked(build_folder, dump, program, source.options, expected))
        of_command = [] if is_here or (wanted and "command" not in wanted) else commands(build_folder / "bin" / "weir", Path(folder), vm)
        for name, command, *_ in of_command:
            vm.add(f"command.{name}", command)
        results, text = vm.run(limit=float(os.environ.get("LIMIT", "1500")))
        slowest = sorted(vm.seconds.items(), key=lambda item: -item[1])[:8]
        print(f"{sum(vm.seconds.values()):.0f} s, most for " + ", ".join(f"{name} {took:.1f}" for name, took in slowest))
        if "@@ end" not in text:
            print(f"the machine did not come to its end:\n{text[-4000:]}")
            failed += 1
        for name, (source, expected) in sources.items():
            runs = results.get(name, (0, ""))[1].split("@run\n")[1:]
            problems, complete = Counter(), 0
            for output in runs:
                problem, is_complete = judge(source, expected, output)
                problems[problem] += problem is not None
                complete += is_complete
            bad = [f"{problem} ({count} times)" for problem, count in problems.items() if count]
            if not runs:
                bad.append("did not run")
            elif not complete and not bad:
                bad.append(f"{len(expected)} reports expected, never all found in {len(runs)} runs:\n" + runs[-1][-1500:])
            print(f"{'FAILED' if bad else 'ok':6} {name}: {len(expected)} reports, all of them in {complete} of {len(runs)} runs")
            for problem in bad:
                print("    " + problem)
            failed += bool(bad)
        for name, _, *expectation in of_command:
            problem = judge_command(results.get(f"command.{name}"), *expectation)
            print(f"{'FAILED' if problem else 'ok':6} command.{name}" + (f"\n    {problem}" if problem else ""))
            failed += problem is not None
    return 1 if failed else 0


if __name__ == "__main__":
    machine.exit_with(main)
