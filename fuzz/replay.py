#!/usr/bin/env python3
"""Recordings of programs with several tasks and processes are damaged, and must be refused with a reason or replayed up to the damage: never a
crash, a hang, or another output.
usage: replay.py BUILD                         the corpus (fuzz/replay), each case once
       replay.py BUILD SECONDS [SEED]          damages drawn at random, for so long
       replay.py BUILD systematic [PROGRAM]    every stream: cut at some bytes and at every entry, a bit flipped, missing, another recording's
A case is a line: PROGRAM VIEW DAMAGE..., see damages() below; places are in parts of 1000, as no two recordings are of one size."""
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
LIMIT = 20
VIEWS = ('coherent', 'isolated', 'direct')
PIPELINE = 'for i in 1 2 3; do echo line $i; done | (read a; read b; echo $b; exec sed s/line/last/) & (echo beside >&2); echo $(echo inner); wait; echo end'
PROGRAMS = {
    'queue': ['queue_bounded', '4'], 'churn': ['thread_churn', '4'], 'pipes': ['pipe_threads', '4'], 'forks': ['fork_in_thread', '4'],
    'spawns': ['spawn_from_threads', '4'], 'signals': ['signal_queue', '4'], 'racey': ['racey_lock', '2'], 'waits': ['wait_kinds', '4'],
    'prints': ['stdio_lines', '4'], 'shell': None,
}
RACY = ('racey',)  # not at View direct, where a replay of it may differ without any damage
SUMS_RIGHT = ('leave', 'double', 'bit')  # what no sum can find: the program may do anything, even compute for ever; an interrupt ends it


class Failed(Exception):
    pass


def run(command, cwd, may_be_interrupted=False):
    """Status (negative: a signal), standard output and error; what is left at the limit is killed, and a failure, unless an interrupt ends it."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, start_new_session=True)
    try:
        out, err = process.communicate(timeout=LIMIT)
        return process.returncode, out, err.decode(errors='replace')
    except subprocess.TimeoutExpired:
        if may_be_interrupted:
            process.send_signal(signal.SIGINT)
            try:
                out, err = process.communicate(timeout=5)
                return process.returncode if process.returncode != -signal.SIGINT else 1, out, err.decode(errors='replace')
            except subprocess.TimeoutExpired:
                pass
        for entry in os.listdir('/proc'):
            try:
                if entry.isdigit() and os.getsid(int(entry)) == process.pid:
                    os.kill(int(entry), signal.SIGKILL)
            except OSError:
                pass
        out, err = process.communicate()
        raise Failed(f'hangs: {" ".join(command)}\n{err.decode(errors="replace")[-2000:]}') from None


class Fuzz:
    def __init__(self, build, work):
        self.build, self.work = os.path.realpath(build), work
        self.known = {}

    def recorded(self, program, view, which=0):
        """A directory with a recording of the program, made once, and what it printed."""
        key = (program, view, which)
        if key not in self.known:
            directory = f'{self.work}/{program}.{view}.{which}'
            words = ['sh', '-c', PIPELINE] if program == 'shell' else [f'{self.build}/tests/programs/{PROGRAMS[program][0]}', *PROGRAMS[program][1:]]
            status, out, err = run([f'{self.build}/bin/weir', 'record', '--quiet', '--view', view, '-o', directory, '--', *words], self.work)
            if status != 0:
                raise Failed(f'{program} {view}: cannot be recorded: {status} {err}')
            status, again, err = run([f'{self.build}/bin/weir', 'replay', '--verify', directory], self.work)
            if status != 0 or again != out:
                raise Failed(f'{program} {view}: whole, it is not replayed: {status} {err}')
            self.known[key] = directory, out
        return self.known[key]

    def damage(self, directory, words, program, view):
        """Damages the recording as the words say. False: there is no such place in it."""
        what, name, *rest = words
        streams = sorted(os.listdir(f'{directory}/streams'))
        if what == 'end':  # its end file is cut, or gone
            path = f'{directory}/end'
            if not os.path.exists(path):
                return False
            return (os.remove(path) if name == 'gone' else os.truncate(path, os.path.getsize(path) * int(name) // 1000)) is None
        name = streams[int(name) * len(streams) // 1000] if name.isdigit() else name
        path = f'{directory}/streams/{name}'
        if not os.path.exists(path):
            return False
        size = os.path.getsize(path)
        at = min(int(rest[0]) * size // 1000, max(size - 1, 0)) if rest and rest[0].isdigit() else 0
        if what == 'cut':
            os.truncate(path, at)
        elif what == 'flip':
            if size == 0:
                return False
            with open(path, 'r+b') as file:
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ 1 << int(rest[1])]))
        elif what == 'missing':
            os.remove(path)
        elif what == 'swap':  # with another stream of the same recording
            other = f'{directory}/streams/{streams[int(rest[0]) * len(streams) // 1000]}'
            if other == path:
                return False
            os.rename(path, path + '.x')
            os.rename(other, path)
            os.rename(path + '.x', other)
        elif what in ('mixed', 'mixed-sums'):  # the same stream of another recording of the program
            other = f'{self.recorded(program, view, 1)[0]}/streams/{name}'
            if not os.path.exists(other):
                return False
            if what == 'mixed':
                shutil.copy(other, path)
            else:
                return self.damaged_by_tool(directory, name, 'take', other)
        elif what in ('keep', 'leave', 'double', 'bit'):
            count = subprocess.run([f'{self.build}/bin/fuzz_damage', directory, name, 'count'], capture_output=True, text=True, check=False).stdout
            number = int(rest[0]) * int(count or 0) // 1000
            return self.damaged_by_tool(directory, name, 'flip' if what == 'bit' else what, str(number), *rest[1:])
        else:
            raise Failed(f'no damage: {words}')
        return True

    def damaged_by_tool(self, *words):
        return subprocess.run([f'{self.build}/bin/fuzz_damage', *words], check=False).returncode == 0

    def case(self, line):
        """One line: what was wrong, or nothing."""
        program, view, *words = line.split()
        whole, recorded = self.recorded(program, view)
        work = tempfile.mkdtemp(dir=self.work)
        try:
            directory = f'{work}/recording'
            shutil.copytree(whole, directory)
            damages = ' '.join(words).split(' + ')
            if not all([self.damage(directory, damage.split(), program, view) for damage in damages]):
                return None
            forged = any(damage.split()[0] in SUMS_RIGHT + ('mixed-sums',) for damage in damages)
            return self.look(directory, recorded, forged)
        except Failed as failure:
            return str(failure)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def look(self, directory, recorded, forged):
        weir = f'{self.build}/bin/weir'
        for command in ('verify', 'dump'):
            status, _, err = run([weir, command, directory], self.work)
            if status not in (0, 1, 125):
                return f'weir {command} ends with {status}: {err[-1000:]}'
            if command == 'verify' and status == 0 and not forged:
                return 'verify finds nothing'
        status, out, err = run([weir, 'replay', '--verify', directory], self.work, forged)
        if forged:  # it may crash, as the program may; the command may not
            return f'the command crashes: {status} {err[-1000:]}' if status < 0 else None
        if status not in (1, 125):
            return f'the replay ends with {status}: {err[-1000:]}'
        if not recorded.startswith(out):
            return f'another output: {out[-300:]!r}, recorded {recorded[-300:]!r}\n{err[-1000:]}'
        if re.search('differs from|fault in the runtime|WEIR_CHECK|check failed|assert', err):
            return f'the replay says: {err[-2000:]}'
        if 'weir: ' not in err:
            return f'no reason is given, status {status}'
        return None


def random_case(draw):
    def one():
        what = draw.choice(('cut', 'flip', 'missing', 'swap', 'mixed', 'keep', 'keep', 'keep', 'leave', 'double', 'bit', 'end'))
        stream = draw.randrange(1000)
        if what == 'end':
            return f'end {draw.choice(("gone", draw.randrange(1000)))}'
        return f'{what} {stream} {draw.randrange(1000)} {draw.randrange(4096) if what == "bit" else draw.randrange(8)}'
    program = draw.choice(sorted(PROGRAMS))
    return f'{program} {draw.choice(VIEWS[:2] if program in RACY else VIEWS)} {" + ".join(one() for _ in range(draw.choice((1, 1, 2, 3))))}'


def systematic(fuzz, programs):
    for program in programs:
        for view in VIEWS[:2] if program in RACY else VIEWS:
            directory, _ = fuzz.recorded(program, view)
            fuzz.recorded(program, view, 1)
            for stream in sorted(os.listdir(f'{directory}/streams')):
                yield from (f'{program} {view} {what} {stream}' for what in ('missing', 'mixed', 'mixed-sums'))
                yield from (f'{program} {view} cut {stream} {at}' for at in range(0, 1000, 111))
                yield from (f'{program} {view} flip {stream} {at} {at % 8}' for at in range(0, 1000, 53))
                yield from (f'{program} {view} keep {stream} {at}' for at in range(0, 1000, 37))
                yield from (f'{program} {view} keep {stream} {at} + end gone' for at in range(0, 1000, 91))
                yield from (f'{program} {view} {what} {stream} {at}' for what in ('leave', 'double') for at in range(0, 1000, 97))


def main():
    build, *words = sys.argv[1:]
    failures = done = 0
    with tempfile.TemporaryDirectory(prefix='weir-fuzz-') as work:
        fuzz = Fuzz(build, work)
        if not words:
            lines = [line for file in sorted((HERE / 'replay').iterdir()) for line in file.read_text().splitlines() if line and line[0] != '#']
        elif words[0] == 'systematic':
            lines = systematic(fuzz, words[1:] or sorted(PROGRAMS))
        else:
            draw = random.Random(int(words[1]) if len(words) > 1 else None)
            until = time.monotonic() + float(words[0])
            lines = iter(lambda: random_case(draw) if time.monotonic() < until else None, None)
        def tell(line, wrong):
            if wrong:
                print(f'FAILED: {line}\n  {wrong}', flush=True)
            return wrong

        with concurrent.futures.ThreadPoolExecutor(max(2, min(8, 2 * len(os.sched_getaffinity(0))))) as pool:
            waiting = {}
            for line in lines:
                fuzz.recorded(*line.split()[:2])
                if 'mixed' in line:
                    fuzz.recorded(*line.split()[:2], 1)
                waiting[pool.submit(fuzz.case, line)] = line
                done += 1
                while len(waiting) > 16:
                    for one in concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED).done:
                        failures += bool(tell(waiting.pop(one), one.result()))
            failures += sum(bool(tell(line, one.result())) for one, line in waiting.items())
    print(f'{done} damaged recordings, {failures} failures')
    return failures != 0


sys.exit(main())
