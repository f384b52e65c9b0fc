"""One run of one command: how long, how much processor time, what it printed, and that nothing of it is left behind."""

import ctypes
import dataclasses
import os
import re
import resource
import select
import signal
import subprocess
import time

from . import memory

OK, TIME_OUT, FAILED, WRONG = "ok", "time-out", "failed", "wrong result"
PR_SET_CHILD_SUBREAPER = 36
WALL = 0x40000000  # __WALL: also children that end without a signal
LONGEST_OUTPUT = 64 << 20


@dataclasses.dataclass
class Run:
    state: str
    message: str = ""
    wall: float = 0.0  # seconds
    cpu: float = 0.0
    memory: int = 0  # bytes; 0 where nobody looked
    output: bytes = b""


def adopt():
    """Whatever outlives the process that started it becomes a child of this one, which then ends it."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def end_all(first):
    """Kills `first` and all its descendants."""
    for process in [first] + memory.descendants(first):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def end_orphans():
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        left = memory.descendants(os.getpid())
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG | WALL)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def last_words(path):
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - 300))
        return " ".join(file.read().decode(errors="replace").split())[-200:]


def port_of(path, server, deadline):
    """What the server says on standard error when it can be reached; None: it never does."""
    while time.monotonic() < deadline and memory.alive(server.pid):
        with open(path, "rb") as file:
            said = re.search(rb"port (\d+)\n", file.read())
        if said:
            return said[1].decode()
        time.sleep(0.001)
    return None


def load(server, client, folder, deadline):
    """Runs the client of a server that is starting; the server ends when its standard input does."""
    out, err = os.path.join(folder, "client.out"), os.path.join(folder, "client.err")
    port = port_of(os.path.join(folder, "err"), server, deadline)
    if not port:
        return Run(FAILED, "the server never said its port")
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        start = time.monotonic()
        words = [word.replace("{port}", port) for word in client]
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True)
        try:
            ended = wait(process.pid, deadline, None)
            wall = time.monotonic() - start
        finally:
            if memory.alive(process.pid):
                end_all(process.pid)
            status = process.wait()
    if not ended:
        return Run(TIME_OUT, "its client was not served in time")
    if status:
        return Run(FAILED, f"its client ended with {status} {last_words(err)}")
    with open(out, "rb") as file:
        return Run(OK, wall=wall, output=file.read(LONGEST_OUTPUT))


def run(command, limit, folder, watch_memory=False, client=()):
    """Runs `command` for `limit` seconds at most. Its output goes to files in `folder`, so nobody must be awake to take it. With a
    client it is a server, and what counts is how long the client is served, and what that prints."""
    out, err = os.path.join(folder, "out"), os.path.join(folder, "err")
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        start = time.monotonic()
        try:
            stdin = subprocess.PIPE if client else subprocess.DEVNULL
            process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True)
        except OSError as error:
            return Run(FAILED, f"cannot be started: {error.strerror}: {error.filename}")
        watch = memory.Watch(process.pid) if watch_memory and not client else None
        loaded = None
        try:
            if client:
                loaded = load(process, client, folder, start + limit)
                process.stdin.close()
            ended = wait(process.pid, start + limit, watch)
            wall = time.monotonic() - start
        finally:  # also where the user interrupts
            if memory.alive(process.pid):
                end_all(process.pid)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            end_orphans()
    # What ended before it could be looked at: the largest resident set of its processes.
    peak = (watch.peak or usage.ru_maxrss << 10) if watch else 0
    result = Run(OK, wall=wall, cpu=usage.ru_utime + usage.ru_stime, memory=peak)
    if not ended:
        result.state, result.message = TIME_OUT, f"still running after {limit:g} s"
    elif process.returncode:
        code = process.returncode
        result.state = FAILED
        how = f"status {code}" if code > 0 else f"killed by {signal.Signals(-code).name}"
        result.message = " ".join(filter(None, [how, last_words(err)]))
    else:
        with open(out, "rb") as file:
            result.output = file.read(LONGEST_OUTPUT)
    if loaded and result.state == OK:
        result.state, result.message, result.wall, result.output = loaded.state, loaded.message, loaded.wall, loaded.output
    elif loaded and loaded.state == TIME_OUT:
        result.message = loaded.message
    return result


def wait(pid, deadline, watch):
    """True: it has ended."""
    descriptor = os.pidfd_open(pid)
    try:
        while True:
            pause = watch.look() if watch else 60
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if select.select([descriptor], (), (), min(left, pause))[0]:
                return True
    finally:
        os.close(descriptor)
