#!/usr/bin/env python3
"""Weir's own signals end no call of the program.

Runs kernel_sleeps under `weir check` and sends its tasks, while it sleeps in the kernel, the signal
by which Weir asks a task to catch up. The program itself says if a call has ended otherwise than it
should. usage: interrupted_test.py BUILD"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SYS_TKILL, PROBE = 200, 16
WAIT = 40  # seconds
ENOUGH = 12  # tasks, of the 15 or 16 that the program has at once


def tasks_of(session):
    """The processes of a session that have libweir.so mapped."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            is_one = int(fields[3]) == session and "libweir.so" in (entry / "maps").read_text()
        except OSError:
            continue
        if is_one:
            yield int(entry.name)


def main():
    weir = pathlib.Path(sys.argv[1]) / "bin" / "weir"
    libc = ctypes.CDLL(None, use_errno=True)
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "kernel_sleeps"
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-pthread", "-D_GNU_SOURCE",
                        HERE / "interrupted/kernel_sleeps.c", "-o", program], check=True)
        with subprocess.Popen([weir, "check", "--exit-code=0", "--", program],
                              stdout=subprocess.PIPE, text=True, start_new_session=True) as child:
            sent, ends = 0, time.monotonic() + WAIT
            while child.poll() is None and time.monotonic() < ends:
                # The monitor keeps the first pid, and takes no such signal.
                tasks = [pid for pid in tasks_of(child.pid) if pid != child.pid]
                if not sent and len(tasks) < ENOUGH:
                    continue  # they are being made
                sent += sum(libc.syscall(SYS_TKILL, pid, PROBE) == 0 for pid in tasks)
                time.sleep(0.005)
            if child.poll() is None:
                os.killpg(child.pid, 9)
                sys.exit(f"it still runs after {WAIT} s")
            said = child.stdout.read()
    if child.returncode or said != "all calls ended as they should\n":
        sys.exit(f"status {child.returncode}, it said: {said!r}")
    if sent < 20:
        sys.exit(f"only {sent} signals were sent")
    print(f"{sent} signals ended no call")


main()
