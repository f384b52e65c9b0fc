#!/usr/bin/env python3
"""A program of programs/planted has a bug that shows in some runs only, by what comes from outside and when. It is recorded until it
fails, by a crash or by a hang, and that run is replayed: each time the same crash at the same place, or the same tasks waiting for the
same things. Says how many runs it took.
usage: planted.py BUILD PROGRAM [RUNS [REPLAYS]]      how often it is tried and replayed, default 200 and 20"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import command

LIMIT = 20


def interrupt_hang(log):
    """Once Weir has said that no task can go on, the user presses Ctrl-C."""
    def watch(process):
        until = time.monotonic() + LIMIT
        while process.poll() is None and time.monotonic() < until:
            words = pathlib.Path(log).read_text() if os.path.exists(log) else ''
            if 'no task of the program can go on' in words:
                time.sleep(0.1)
                process.send_signal(signal.SIGINT)
                return
            time.sleep(0.01)
    return watch


def place(program, ended):
    """Where it failed, for the reader; the comparison is of all that it said."""
    text = ended.err.decode(errors='replace')
    if crash := re.search(r'signal (\d+) at \+(0x[0-9a-f]+)', text):
        line = subprocess.run(['addr2line', '-e', program, crash[2]], stdout=subprocess.PIPE, text=True, check=False).stdout
        return f'{signal.Signals(int(crash[1])).name} at {line.split("/")[-1].split(" ")[0].strip()}'
    if 'does not hold' in text:
        return text.splitlines()[0]
    return 'hang: ' + ', '.join(word.split('weir:')[1].strip() for word in ended.words if ' at ' in word)


def test(work, arguments):
    build, name = os.path.realpath(arguments[0]), arguments[1]
    runs, replays = (int(arguments[2 + i]) if len(arguments) > 2 + i else (200, 20)[i] for i in range(2))
    program = f'{build}/tests/programs/planted/{name}'
    for run in range(1, runs + 1):
        recorded = command.Recorded(build, work, name, [program], LIMIT)
        ended = recorded.record(meanwhile=interrupt_hang(recorded.log))
        if ended.status != 0:
            break
    else:
        raise command.Failed(f'{name} did not fail in {runs} runs')
    hangs = any('no task of the program can go on' in word for word in ended.words)
    if ended.status not in ((-signal.SIGINT,) if hangs else (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT)):
        raise command.Failed(f'{name} ended with {ended.status} while it was recorded\n{ended.tell()}')
    for i in range(replays):
        if i == 1:
            shutil.rmtree(recorded.work)
        recorded.replay(command.on_some_processors, f'replay {i + 1} of {replays}')
    return f'{name}: failed in run {run}; {replays} replays failed alike: {place(program, ended)}'


command.main(test)
