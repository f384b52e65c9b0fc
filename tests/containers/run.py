#!/usr/bin/env python3
"""Weir as it is started in containers: what `weir doctor` says of each command is what it does.

usage: run.py BUILD CASE       a case: a line of CASES below
       run.py BUILD --table    the table of docs/COMPATIBILITY.md, from runs of all cases

boxed.c imitates the filters of system calls. A file beside each case says what must come out;
the same table stands in docs/COMPATIBILITY.md."""
import functools
import os
import pathlib
import subprocess
import sys

import verdicts

HERE = pathlib.Path(__file__).resolve().parent
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


class Imitated(verdicts.Box):
    def __init__(self, build, name, work):
        super().__init__(build, work)
        self.text, self.user, options, profiles, mounts = CASES[name]
        subprocess.run(["gcc", "-O1", HERE / "boxed.c", "-o", work / "boxed"], check=True)
        if mounts and os.geteuid() == 0 and subprocess.run(
                ["unshare", "-m", "true"], capture_output=True).returncode == 0:
            if name == "bare":  # all but the home is closed to writing
                mounts += f"mount --bind {work}/home {work}/home; mount -o remount,rw,bind {work}/home; "
            self.before = ["unshare", "-m", "sh", "-c", mounts + 'exec "$@"', "sh"]
        else:
            self.before = []
        if os.geteuid() != 0:
            options = [one for one in options if not one.startswith("--user") and one != "--drop"]
        self.before += [str(work / "boxed"), *options, profiles]

    def command(self, words):
        return [*self.before, str(self.work / "bin" / "weir"), *words]


def main():
    build, name = sys.argv[1:3]
    is_table = name == "--table"
    makers = [functools.partial(Imitated, build, one) for one in (CASES if is_table else [name])]
    return verdicts.all_right(makers, is_table)


sys.exit(main())
