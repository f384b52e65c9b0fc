#!/usr/bin/env python3
"""A test program is recorded, must end as programs/MANIFEST says, and is replayed: the same output, end, memory and schedule, and
nothing happens to files. A racy one (racey*, racy_*) is recorded five times, each time disturbed in another way.
usage: program.py BUILD PROGRAM      LIMIT (environment): seconds that one run may take, default 50"""
import os
import pathlib
import random
import re
import signal

import command


def expectation(name):
    """Arguments, and the status that subprocess gives of the right ending."""
    manifest = pathlib.Path(__file__).parent.parent / 'programs' / 'MANIFEST'
    for line in manifest.read_text().splitlines():
        fields = [field.strip() for field in line.split('|')]
        if fields[0] != name:
            continue
        kind, value = fields[3].split('=')
        return fields[1].split(), int(value) if kind == 'exit' else -getattr(signal, 'SIG' + value)
    raise command.Failed(f'{name} is not in programs/MANIFEST')


def test(work, arguments):
    build, name = os.path.realpath(arguments[0]), arguments[1]
    words, want = expectation(name)
    limit = float(os.environ.get('LIMIT', 50))
    is_racy = re.match('racey|racy_', name)
    outputs = set()
    for run in range(5 if is_racy else 1):
        recorded = command.Recorded(build, work, f'{name}.{run}', [f'{build}/tests/programs/{name}', *words], limit)
        if is_racy:
            with command.load(random.randint(0, 3)):
                ended = recorded.record(command.on_some_processors)
        else:
            ended = recorded.record()
        if ended.status != want:
            raise command.Failed(f'{name} ended with {ended.status} instead of {want} while it was recorded\n{ended.tell()}')
        if want >= 0 and not ended.fingerprints:
            raise command.Failed(f'{name}: there is no fingerprint\n{ended.tell()}')
        recorded.replay_both_ways()
        outputs.add(ended.out)
    return f'{name}: replayed as recorded ({len(outputs)} outputs)'


command.main(test)
