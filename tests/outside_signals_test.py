#!/usr/bin/env python3
"""Signals from outside, at high rate and at bad moments, at each View.

births: the signal by which Weir asks a task, to a task that makes others and to those that it has
just made. faults: timers' signals while tasks come to pages. calls: SIGSEGV and its like, which
nobody's fault has raised. usage: outside_signals_test.py BUILD births|faults|calls"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WAIT = 100  # seconds
DET, FREE = ["det"], ["run", "--order", "free", "--view", "isolated"]
COHERENT, CHECK = ["run", "--view", "coherent"], ["check", "--exit-code=0"]
FAULTS = [signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP]


def fail(text):
    sys.exit(f"FAILED: {text}")


def compiled(name):
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-pthread", "-D_GNU_SOURCE",
                    HERE / f"interrupted/{name}.c", "-o", name], check=True)
    return f"./{name}"


def start(command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True)


def end(child, command, wanted):
    """Waits for the child, which is to have said what is wanted."""
    try:
        said, complaint = child.communicate(timeout=WAIT)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        fail(f"{command} still runs after {WAIT} s: {child.communicate()}")
    if child.returncode or not said.endswith(wanted + "\n"):
        fail(f"{command}: status {child.returncode}, it said: {said!r}, {complaint!r}")


def births(weir):
    program, sender = compiled("births"), compiled("sender")
    # det goes on slowly meanwhile: a turn is handed on by calls that each signal interrupts.
    for options, rounds in [(CHECK, 600), (FREE, 500), (COHERENT, 400), (DET, 30)]:
        command = [weir, *options, "--", program, str(rounds)]
        child = start(command)
        monitors = "1" if options == CHECK else "0"  # beside the process that was started
        with subprocess.Popen([sender, str(child.pid), "16", monitors],
                              stdout=subprocess.PIPE) as other:
            end(child, command, "all threads came and went")
            sent = int(other.communicate(timeout=WAIT)[0] or 0)
        if sent < 1000:
            fail(f"{command}: only {sent} signals were sent")
        print(f"{' '.join(options)}: {sent} signals did no harm")


def faults(weir):
    program = compiled("faults")
    for options in [CHECK, COHERENT, FREE, DET]:
        for _ in range(3):
            command = [weir, *options, "--", program]
            end(start(command), command, "all pages hold what was stored")
    for view in ["coherent", "isolated"]:
        command = [weir, "record", "--quiet", "--view", view, "-o", view, "--", program]
        end(start(command), command, "all pages hold what was stored")
        command = [weir, "replay", view]
        end(start(command), command, "all pages hold what was stored")


def calls(weir):
    program = compiled("faults_by_call")
    for options in [DET, FREE, COHERENT]:
        command = [weir, *options, "--", program]
        child = start(command)
        if child.stdout.readline() != "ready\n":
            fail(f"{command} has not begun")
        for number in FAULTS:
            os.kill(child.pid, number)
        end(child, command, "all signals came")


def main():
    weir = pathlib.Path(sys.argv[1]).resolve() / "bin" / "weir"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        {"births": births, "faults": faults, "calls": calls}[sys.argv[2]](weir)


main()
