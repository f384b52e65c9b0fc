#!/usr/bin/env python3
"""A recording that SIGKILL ends at a random moment replays up to there: what the replay prints is a beginning of what the recorded
run printed, it ends by itself, and verify and dump can read it.
usage: killed.py BUILD program|recorder|both [MOMENTS]      default 20"""
import contextlib
import os
import pathlib
import random
import signal
import time

import command

LIMIT = 30
# Of each: arguments, and how many seconds it runs at least, recorded.
PROGRAMS = {'racey': (['4'], 0.1), 'queue_bounded': (['4'], 0.1), 'object_order': (['4', '4000'], 0.3), 'fork_exec': (['4'], 0.2), 'stdio_stdout': (['4'], 0.1),
            'heap_churn': (['4'], 0.2), 'signal_queue': (['4'], 0.1), 'planted/lock_order': ([], 0.1)}


def killer(who, moment):
    def kill(process):
        time.sleep(moment)
        victims = [process.pid] if who != 'program' else []
        if who != 'recorder':
            victims += [other for other in command.session(process.pid) if other != process.pid]
        for victim in victims:
            with contextlib.suppress(OSError):
                os.kill(victim, signal.SIGKILL)
    return kill


def test(work, arguments):
    build, who, moments = os.path.realpath(arguments[0]), arguments[1], int(arguments[2]) if len(arguments) > 2 else 20
    seed = int(os.environ.get('SEED', random.randrange(1 << 30)))
    random.seed(seed)
    early = 0
    names = sorted(PROGRAMS)
    if os.environ.get('VIEW') == 'direct':
        names.remove('racey')  # a replay of it differs
    for _ in range(moments):
        name = random.choice(names)
        words, seconds = PROGRAMS[name]
        moment = random.uniform(0.01, seconds)
        what = f'seed {seed}: {name} after {moment:.4f} s'
        program = [f'{build}/tests/programs/{name}', *words]
        recorded = command.Recorded(build, work, pathlib.Path(name).name, program, LIMIT)
        ended = recorded.record(meanwhile=killer(who, moment))
        if not os.path.exists(f'{recorded.directory}/manifest'):  # before anything was recorded
            early += 1
            continue
        for words in (['verify', recorded.directory], ['dump', recorded.directory]):
            looked = command.ends([recorded.weir, *words], LIMIT, work)
            if looked.status not in (0, 1):
                raise command.Failed(f'{what}: weir {words[0]} ends with {looked.status}\n{looked.tell()}')
        now = command.ends([recorded.weir, 'replay', *recorded.weir_words(), recorded.directory], LIMIT, recorded.elsewhere, recorded.log)
        if not ended.out.startswith(now.out):
            raise command.Failed(f'{what}: the replay prints something else\n{ended.tell()}\n{now.tell()}')
        if ended.fingerprints and now.fingerprints and now.fingerprints[-1] == ended.fingerprints[-1]:
            continue  # the recorder was killed when the program had already ended
        differs = any('differs' in word or 'differently' in word for word in now.words)
        if differs or now.status not in (ended.status, -signal.SIGKILL, 125):
            raise command.Failed(f'{what}: another end than the recorded\n{ended.tell()}\n{now.tell()}')
    return f'{who} killed at {moments} moments, {early} of them before the recording began: each replays up to there (seed {seed})'


command.main(test)
