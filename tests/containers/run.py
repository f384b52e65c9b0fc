#!/usr/bin/env python3
"""Weir as it is started in containers: what `weir doctor` says of each command is what it does.

usage: run.py BUILD CASE       a case: a line of CASES below
       run.py BUILD --table    the table of docs/COMPATIBILITY.md, from runs of all cases

boxed.c imitates the filters of system calls. A file beside each case says what must come out;
the same table stands in docs/COMPATIBILITY.md."""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "COMPATIBILITY.md"
LIMIT = 60
COMMANDS = ("det", "check", "record", "replay")
NO_DEVICE = "mount --bind /dev/null /dev/userfaultfd 2>/dev/null; "
# name: what the table calls it, the user, options of boxed, its profiles, and what the mount
# namespace is like (for root only)
CASES = {
    "docker": ("Docker's default profile", "root", ["--drop"], "docker", NO_DEVICE),
    "docker_user": ("Docker's default profile", "uid 1000", ["--user=1000"], "docker", ""),
    "podman": ("podman's default profile", "root", ["--drop"], "podman", NO_DEVICE),
    "podman_user": ("podman's default profile", "uid 1000", ["--user=1000"], "podman", ""),
    "bare": ("Docker's default profile, read-only root, 64 MB of /dev/shm, no HOME", "root",
             ["--drop"], "docker", NO_DEVICE + "unset HOME; mount -t tmpfs -o size=64m none /dev/shm; "
             "mount --rbind / / && mount -o remount,ro,bind / ; "),
    "ptrace": ("ptrace refused", "uid 1000", ["--user=1000"], "ptrace", ""),
    "personality": ("personality refused", "uid 1000", ["--user=1000"], "personality", ""),
    "both": ("ptrace and personality refused", "uid 1000", ["--user=1000"], "ptrace,personality", ""),
    "memfd": ("memfd_create refused", "uid 1000", ["--user=1000"], "memfd_create", ""),
    "perf": ("perf_event_open refused", "uid 1000", ["--user=1000"], "perf_event_open", ""),
    "clone3": ("clone3 unknown", "uid 1000", ["--user=1000"], "clone3", ""),
    "seccomp": ("seccomp refused", "uid 1000", ["--user=1000"], "seccomp", ""),
    "process_vm": ("process_vm_readv and personality refused", "uid 1000", ["--user=1000"],
                   "process_vm,personality", ""),
    "none": ("no filter", "uid 1000", ["--user=1000"], "none", ""),
}
WORDS = {"works": "yes", "differs": "yes, but", "refused": "refused"}


class Box:
    def __init__(self, build, name, work):
        self.text, self.user, options, profiles, self.mounts = CASES[name]
        self.work = work
        if self.mounts and os.geteuid() == 0 and subprocess.run(
                ["unshare", "-m", "true"], capture_output=True).returncode == 0:
            self.before = ["unshare", "-m", "sh", "-c", self.mounts + 'exec "$@"', "sh"]
        else:
            self.before = []
        if os.geteuid() != 0:
            options = [one for one in options if not one.startswith("--user") and one != "--drop"]
        self.before += [str(work / "boxed"), *options, profiles]
        self.weir = str(work / "bin" / "weir")
        self.programs = pathlib.Path(build) / "tests" / "programs"

    def run(self, *words):
        done = subprocess.run([*self.before, self.weir, *words], cwd=self.work / "home",
                              capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
        return done

    def doctor(self):
        done = self.run("doctor", "--json")
        said = {one["command"]: one for one in json.loads(done.stdout)["commands"]}
        works = all(one["verdict"] != "refused" for one in said.values())
        expect(done.returncode == (0 if works else 1), f"doctor: status {done.returncode}")
        plain = self.run("doctor").stdout
        for one in said.values():
            line = next(line for line in plain.splitlines() if line.startswith(one["command"] + ":"))
            expect(("does not work" in line) == (one["verdict"] == "refused"), f"doctor: {line}")
        return said


failures = []


def expect(holds, words):
    if not holds:
        failures.append(words)
        print("FAILED:", words)


def lines_of(done):
    return [line for line in done.stderr.splitlines() if line.startswith("weir:")]


def must_refuse(done, verdict):
    expect(done.returncode == 125, f"{verdict['command']}: status {done.returncode}, not 125: {done.stderr}")
    for lack in verdict["refused"]:
        expect(lack["what"] in done.stderr and lack["mend"] in done.stderr and
               f"cause: {lack['cause']}" in done.stderr,
               f"{verdict['command']}: its words are not doctor's: {done.stderr}")
    instead = verdict["instead"]
    expect(not instead or instead in done.stderr, f"{verdict['command']}: does not say {instead}")


def programs_of(box):
    place = box.work / "programs"
    return [[str(place / "racey"), "4"], [str(place / "create_join"), "4"],
            ["/bin/sh", "-c", f"{place}/racey 2; /bin/echo done; exec {place}/create_join 2"]]


def try_all(box, said):
    for program in programs_of(box):
        det, check, record, replay = (said[name] for name in COMMANDS)
        recording = str(box.work / "home" / "recording")
        if det["verdict"] == "refused":
            must_refuse(box.run("det", "--", *program), det)
            if det["instead"]:
                done = box.run(*det["instead"].split()[1:], "--", *program)
                expect(done.returncode == 0, f"{det['instead']}: {done.stderr}")
        else:
            runs = [box.run("det", "--fingerprint", "--", *program) for _ in range(3)]
            expect(all(one.returncode == 0 for one in runs), f"det {program}: {runs[0].stderr}")
            expect(len({one.stdout for one in runs}) == 1, f"det {program}: outputs differ")
            if det["verdict"] == "works" and program[0] != "/bin/sh":
                expect(len({one.stderr for one in runs}) == 1,
                       f"det {program}: {[one.stderr for one in runs]}")
            for lack in det["differs"]:
                expect(lack["what"] in runs[0].stderr, f"det does not say {lack['what']}")
        done = box.run("check", "--quiet", "--", *program)
        if check["verdict"] == "refused":
            must_refuse(done, check)
        else:
            expect(done.returncode in (0, 66), f"check {program}: {done.returncode} {done.stderr}")
        done = box.run("record", "--quiet", "-o", recording, "--", *program)
        if record["verdict"] == "refused":
            must_refuse(done, record)
            continue
        expect(done.returncode == 0 and not lines_of(done), f"record {program}: {done.stderr}")
        made = [one for one in replay["differs"] if "executed files" in one["what"]]
        for _ in range(2):
            again = box.run("replay", recording)
            if made and program[0] == "/bin/sh":  # the programs' copies are not of the system
                must_refuse(again, {**replay, "refused": made})
                continue
            expect(again.returncode == 0 and again.stdout == done.stdout,
                   f"replay {program}: {again.returncode} {again.stderr}")
        shutil.rmtree(recording, ignore_errors=True)
        expect((replay["verdict"] == "refused") == (record["verdict"] == "refused"),
               "replay and record are judged differently")


def row_of(name, said):
    text, user = CASES[name][:2]
    def cell(verdict):
        word = WORDS[verdict["verdict"]]
        pages = [one for one in verdict["means"] if one == "pages: mprotect"]
        addresses = [one for one in verdict["means"] if one == "addresses: fixed by Weir"]
        how = ["slower"] * bool(pages) + ["own addresses"] * bool(addresses)
        return word + (f" ({', '.join(how)})" if how else "")
    cells = [cell(said[one]) for one in COMMANDS]
    return "| " + " | ".join([text, user, *cells]) + " |"


def has_all_of_kernel():
    return tuple(int(one) for one in platform.release().split(".")[:2]) >= (6, 7) and os.geteuid() == 0


def main():
    build, name = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for part in ("bin", "lib", "home", "programs"):
            (work / part).mkdir()
        shutil.copy(f"{build}/bin/weir", work / "bin")
        shutil.copy(f"{build}/lib/libweir.so", work / "lib")
        for one in ("racey", "create_join"):
            shutil.copy(f"{build}/tests/programs/{one}", work / "programs")
        subprocess.run(["gcc", "-O1", HERE / "boxed.c", "-o", work / "boxed"], check=True)
        for one in (work, work / "home"):
            one.chmod(0o777)
        if name == "--table":
            for one in CASES:
                print(row_of(one, Box(build, one, work).doctor()))
            return 0
        box = Box(build, name, work)
        if name == "bare":  # all but /tmp is closed to writing
            box.before[4] = box.before[4].replace("exec", f"mount --bind {work}/home {work}/home; "
                                                  f"mount -o remount,rw,bind {work}/home; exec", 1)
        said = box.doctor()
        try_all(box, said)
        if has_all_of_kernel():
            row = row_of(name, said)
            expect(row in PAGE.read_text().splitlines(), f"docs/COMPATIBILITY.md lacks: {row}")
    return 1 if failures else 0


sys.exit(main())
