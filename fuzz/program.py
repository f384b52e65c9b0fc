#!/usr/bin/env python3
"""Programs drawn at random (fuzz/program) do the same under Weir as without it: each action answers what it must whatever the schedule, so
what a seed prints natively is what it must print at each point of Order x View, recorded, replayed and checked (no action has a race).
usage: program.py BUILD [SEEDS [FIRST]] [--only WAY,...] [--actions ACTION,...]
A failure is printed with the command that shows it again; TELL=1 in the environment makes the program say its actions. ACTION as for random_program."""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile

import trial

LIMIT = 60
RUNS = {
    'det': ['det'], 'det-direct': ['run', '--order', 'token', '--view', 'direct'], 'free': ['run', '--order', 'free', '--view', 'isolated'],
    'free-direct': ['run', '--order', 'free', '--view', 'direct'], 'serial': ['run', '--order', 'serial'], 'check': ['check'],
}
RECORDINGS = ('coherent', 'isolated', 'direct')
# What a way does not promise (docs/LIMITS.md), or not yet.
LEFT_OUT = {'record-direct': ['-map_twice', '-share_with_child', '-open_library']}
WAYS = (*RUNS, *(f'record-{view}' for view in RECORDINGS))


def run(command, folder):
    return trial.run(command, LIMIT, folder)


def expect(want, got, where):
    if got != want:
        raise trial.Failed(f'{where} printed\n{got}instead of\n{want}')


def try_way(weir, way, program, want, folder):
    if way in RUNS:
        return expect(want, run([weir, *RUNS[way], '--', *program], folder), way)
    recording = f'{folder}/{way}'
    expect(want, run([weir, 'record', '--view', way.removeprefix('record-'), '-o', recording, '--', *program], folder), way)
    expect(want, run([weir, 'replay', recording], folder), f'the replay of {way}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=os.path.realpath)
    parser.add_argument('seeds', type=int, nargs='?', default=1)
    parser.add_argument('first', type=int, nargs='?', default=1)
    parser.add_argument('--only', type=lambda text: text.split(','), default=WAYS)
    parser.add_argument('--actions', type=lambda text: text.split(','), default=[])
    options = parser.parse_args()
    weir = f'{options.build}/bin/weir'
    binary = f'{options.build}/tests/programs/random_program'
    failures = 0
    for seed in range(options.first, options.first + options.seeds):
        wants = {}
        with tempfile.TemporaryDirectory(prefix='weir-program-') as folder:
            for way in options.only:
                actions = options.actions or LEFT_OUT.get(way, [])
                program = [binary, str(seed), str(2 + seed % 3), str(12 + seed * 7 % 24), *actions]
                want = wants.get(tuple(program)) or wants.setdefault(tuple(program), run(program, folder))
                try:
                    try_way(weir, way, program, want, folder)
                except trial.Failed as failed:
                    failures += 1
                    kept = f'kept in {shutil.copytree(folder, tempfile.mkdtemp(prefix="weir-failed-"), dirs_exist_ok=True)}'
                    print(f'{way}: {" ".join(program)}\n{failed}\n{kept if way.startswith("record") else ""}', flush=True)
    print(f'{options.seeds * len(options.only)} runs, {failures} failed')
    sys.exit(failures != 0)


main()
