#!/usr/bin/env python3
"""Programs with races, drawn at random (fuzz/racy): what they print depends on the schedule alone. So it must be the same in each run where the
order is exact: under `weir det` (fingerprint included) and Order serial; and a replay must print what the recorded run printed.
usage: racy.py BUILD [SEEDS [FIRST]] [--only WAY,...] [--actions ACTION,...]
A failure is printed with the command that shows it again; TELL=1 in the environment makes the program say its actions."""
import argparse
import os
import shutil
import sys
import tempfile

import trial

LIMIT = 120
ACTIONS = ('some_accesses', 'atomic_some', 'fill_some', 'in_locks', 'in_rwlock', 'in_spin_lock', 'try_lock', 'wait_condition', 'use_semaphore',
           'exchange_block', 'use_pipe', 'read_file', 'send_signal', 'block_signals', 'spin', 'compute', 'make_thread', 'make_process',
           'map_and_unmap', 'stand_aside')
# What is input where nothing is recorded (docs/LIMITS.md): the end of a child.
LEFT_OUT = {'det': ('make_process',), 'serial': ('make_process',)}
RUNS = {'det': ('det', '--virtual', 'time', '--fingerprint'), 'serial': ('det', '--order', 'serial')}
WAYS = (*RUNS, 'record-coherent', 'record-isolated')


def run(command):
    out = trial.run(command, LIMIT, with_errors=True)
    return '\n'.join(line for line in out.splitlines() if not line.startswith('weir: recorded in '))


def try_way(weir, way, program, folder, times):
    if way in RUNS:
        runs = [run([weir, *RUNS[way], '--', *program]) for _ in range(times)]
    else:
        recording = f'{folder}/recording'
        runs = [run([weir, 'record', '--view', way.removeprefix('record-'), '-o', recording, '--', *program])]
        runs += [run([weir, 'replay', recording]) for _ in range(times - 1)]
    for other in runs[1:]:
        if other != runs[0]:
            raise trial.Failed(f'printed first\n{runs[0]}\nand then\n{other}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=os.path.realpath)
    parser.add_argument('seeds', type=int, nargs='?', default=1)
    parser.add_argument('first', type=int, nargs='?', default=1)
    parser.add_argument('--only', type=lambda text: text.split(','), default=WAYS)
    parser.add_argument('--actions', type=lambda text: text.split(','), default=ACTIONS)
    parser.add_argument('--times', type=int, default=3)
    options = parser.parse_args()
    weir = f'{options.build}/bin/weir'
    binary = f'{options.build}/tests/programs/racy_program'
    failures = 0
    for seed in range(options.first, options.first + options.seeds):
        for way in options.only:
            actions = [one for one in options.actions if one not in LEFT_OUT.get(way, ())]
            program = [binary, str(seed), str(2 + seed % 5), str(60 + seed * 37 % 240), ','.join(actions)]
            with tempfile.TemporaryDirectory(prefix='weir-racy-') as folder:
                try:
                    try_way(weir, way, program, folder, options.times)
                except trial.Failed as failed:
                    failures += 1
                    kept = shutil.copytree(folder, tempfile.mkdtemp(prefix='weir-failed-'), dirs_exist_ok=True) if os.listdir(folder) else ''
                    print(f'{way}: {" ".join(program)}\n{failed}\n{f"kept in {kept}" if kept else ""}', flush=True)
    print(f'{options.seeds * len(options.only)} programs, {failures} failed')
    sys.exit(failures != 0)


main()
