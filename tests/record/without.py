#!/usr/bin/env python3
"""weir record --without NAME: what was to be left out is left out, in the recording and in its replay.
usage: without.py BUILD"""
import os
import re
import subprocess

import command


def number(text, pattern):
    found = re.search(pattern, text)
    if not found:
        raise command.Failed(f'no {pattern} in what --stat prints\n{text}')
    return int(found[1])


def column(text, name):
    """The sum in this column of --stat's tables; 0 if it is left out, as columns are of which nothing was counted."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if not re.match(rf'weir: +(task|ms) .*  {name}(  |$)', line):
            continue
        end = re.search(rf'  {name}(  |$)', line).start() + 2 + len(name)
        for row in lines[at + 1:]:
            if re.match(r'weir: +all ', row):
                return float(re.search(r'\S+$', row[:end])[0])
    return 0


def test(work, arguments):
    build = os.path.realpath(arguments[0])
    weir, program = f'{build}/bin/weir', [f'{build}/bench/dedup', '--size', 'small', '--threads', '4']

    def run(*words):
        ended = command.ends([weir, *words], 60, work)
        if ended.status != 0:
            raise command.Failed(ended.tell())
        return ended.err.decode()

    def recorded(*left_out):
        """What record and replay count, and how often a task came to the heap."""
        directory = f'{work}/{"-".join(left_out) or "all"}'
        options = ['--without', ','.join(left_out)] if left_out else []
        counts = [run('record', '--quiet', '--stat', *options, '-o', directory, '--', *program), run('replay', '--stat', directory)]
        turns = subprocess.run([weir, 'dump', directory], capture_output=True, text=True, timeout=60, check=True).stdout
        return counts, len(re.findall(r'\b\d+h\b', turns))

    def check(is_so, what):
        if not is_so:
            raise command.Failed(what)

    all_counts, all_heap = recorded()
    for text in all_counts:
        check(number(text, r'\((\d+) from the pool\)') > 0, f'no task had a process from the pool\n{text}')
    for text in recorded('pool')[0]:
        check(number(text, r'\((\d+) from the pool\)') == 0, f'without the pool a task had a process from it\n{text}')
    heap = recorded('heap')[1]
    check(heap > 10 * all_heap + 100, f'with one heap tasks come to it {heap} times, with many {all_heap} times')
    check(column(all_counts[0], 'in advance') > 0, f'no page came in advance\n{all_counts[0]}')
    for text in recorded('tape', 'ahead', 'around', 'keeping')[0]:  # each brings some; the last if pages are kept, as chance has it
        check(column(text, 'in advance') == 0, f'pages came in advance\n{text}')
    with_calls = number(all_counts[0], r'weir: rounds (\d+)')
    without = number(recorded('demand')[0][0], r'weir: rounds (\d+)')
    check(without > with_calls, f'giving up all at each event takes {without} turns, on demand {with_calls}')
    return f'with one heap {heap} turns at it, else {all_heap}; giving up all at each event {without} turns, else {with_calls}'


command.main(test)
