#!/usr/bin/env python3
"""The test programs of tests/programs under weir check --enforcer=mpk in an emulated machine: none declares anything, so none is reported, and each ends as it is to.

usage: manifest.py BUILD [NAME ...]

Beside each there is a native run in the same machine: what does not work there (a device, a file that is not brought, a clock too slow) is not expected of the checked one.
"""
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "emulated"))
sys.dont_write_bytecode = True
import machine  # noqa: E402
import test_programs  # noqa: E402


def exceptions():
    found = {}
    for line in (HERE / "MANIFEST_EXCEPT").read_text().splitlines():
        if line and not line.startswith("#"):
            name, why = line.split("|")
            found[name.strip()] = why.strip()
    return found


def main():
    build = Path(sys.argv[1]).resolve()
    wanted = sys.argv[2:]
    machine.need()
    left_out = exceptions()
    cases = [case for case in test_programs.lines() if (not wanted and case[0] not in left_out) or case[0] in wanted]
    failed = native_failed = 0
    with machine.folder() as folder:
        vm = machine.Machine(folder)
        vm.bring(build / "bin" / "weir")
        vm.bring(build / "lib" / "libweir.so")
        for name, arguments, _, _ in cases:
            program = build / "tests" / "programs" / name
            vm.bring(program)
            run = f"timeout -s KILL 150 {{}} {program} {arguments}"
            quiet = "2>/dev/null; s=$?; cd /; rm -rf /tmp/w; exit $s"
            vm.add(f"native {name}", f"mkdir -p /tmp/w; cd /tmp/w; {run.format('')} {quiet}")
            vm.add(f"checked {name}", f"mkdir -p /tmp/w; cd /tmp/w; {run.format(f'{build}/bin/weir check --enforcer=mpk --rehash=50 --exit-code=77 --log /tmp/log --')} {quiet}")
            vm.add(f"log {name}", "cat /tmp/log; rm -f /tmp/log")
        results, text = vm.run(limit=float(os.environ.get("LIMIT", "1500")))
    if "@@ end" not in text:
        print(f"the machine did not come to its end:\n{text[-3000:]}")
        failed += 1
    for name, _, mode, status in cases:
        native, checked = results.get(f"native {name}"), results.get(f"checked {name}")
        said = results.get(f"log {name}", (0, "?"))[1]
        if native is None or native[0] != status:
            native_failed += 1
            print(f"left   {name}: natively {native and native[0]} instead of {status} here")
            continue
        problem = None
        if checked is None:
            problem = "did not run"
        elif checked[0] != status:
            problem = f"status {checked[0]} instead of {status}: {checked[1][-500:]!r}"
        elif mode == "exact" and checked[1] != native[1]:
            problem = f"printed {checked[1][-500:]!r} instead of {native[1][-500:]!r}"
        elif "violation" in said or "race" in said or "wrong annotation" in said:
            problem = "reported"
        print(f"{'FAILED' if problem else 'ok':6} {name}")
        if problem:
            print(f"    {problem}\n    {said[-1500:]}")
            failed += 1
    print(f"{len(cases)} programs, {failed} failed, {native_failed} do not work natively in this machine")
    return 1 if failed or native_failed > len(cases) / 4 else 0


if __name__ == "__main__":
    machine.exit_with(main)
