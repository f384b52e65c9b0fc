#!/usr/bin/env python3
"""A benchmark program with its small input and 4 threads is recorded, must print what its sequential version prints, and is replayed:
the same output, memory and schedule.
usage: workload.py BUILD NAME [OPTION OF THE PROGRAM...]      LIMIT (environment): seconds that one run may take, default 60"""
import os
import shutil
import subprocess

import command

INPUTS = {'histogram': 'pixels', 'linear_regression': 'points', 'string_match': 'keys', 'word_count': 'text', 'reverse_index': 'html'}


def test(work, arguments):
    build, name, options = os.path.realpath(arguments[0]), arguments[1], arguments[2:]
    limit = float(os.environ.get('LIMIT', 60))
    if name in INPUTS:
        subprocess.run([f'{build}/bench/generate', INPUTS[name], 'small', '7', f'{work}/input'], check=True, stdout=subprocess.DEVNULL)
        options = ['--input', f'{work}/input', *options]
    program = [f'{build}/bench/{name}', '--size', 'small']
    sequential = command.ends([*program, '--sequential', *options], limit, work)
    recorded = command.Recorded(build, work, name, [*program, '--threads', '4', *options], limit)
    ended = recorded.record()
    if ended.status != 0:
        raise command.Failed(f'{name} ended with {ended.status} while it was recorded\n{ended.tell()}')
    if ended.out != sequential.out:
        raise command.Failed(f'{name} prints something else than its sequential version\n{ended.tell()}\n{sequential.tell()}')
    if name in INPUTS:
# A replay reads no file of the program's.
        if os.path.isdir(f'{work}/input'):
            shutil.rmtree(f'{work}/input')
        else:
            os.remove(f'{work}/input')
    recorded.replay_both_ways()
    return f'{name}: replayed as recorded'


command.main(test)
