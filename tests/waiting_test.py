#!/usr/bin/env python3
"""Tasks that wait do not wake up again and again: of them one asks for all what the others do.
usage: waiting_test.py BUILD

The figure is how often the processes give their processor up while 16 threads wait for a condition 40 times, for some
milliseconds each. Most of it is waking them: 2 to 4 a wait on an idle machine, up to 11 on a crowded one. When each
asked for itself, a recording had ten times as many. The rule itself is tested by src/order/probe_test.cc.
"""
import os
import resource
import subprocess
import sys
import tempfile

THREADS, ROUNDS = 16, 40
MOST = 16 * THREADS * ROUNDS + 1000


def switches(*words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
    subprocess.run(words, check=True, timeout=60, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before


def main():
    build = os.path.realpath(sys.argv[1])
    weir, program = f'{build}/bin/weir', (f'{build}/tests/programs/many_waiters', str(THREADS), str(ROUNDS))
    with tempfile.TemporaryDirectory() as work:
        points = {'record': ('record', '--quiet', '-o', f'{work}/r'), 'det': ('det',)}
        for point, words in points.items():
            count = switches(weir, *words, '--', *program)
            print(f'{point}: {count} switches, at most {MOST}')
            if count > MOST:
                sys.exit(f'{point}: tasks that wait wake up too often')


main()
