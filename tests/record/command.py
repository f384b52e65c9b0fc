"""What the tests of record and replay share: runs with a time limit, what a replay must have in common with its recording."""
import contextlib
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Failed(Exception):
    pass


class Ended:
    """How a run ended: its status as subprocess has it (-9: killed by SIGKILL), its output, and Weir's own words."""

    def __init__(self, command, status, out, err, words):
        self.command, self.status, self.out, self.err = command, status, out, err
        # Processes that end at the same time speak in any order; the system gives other numbers to other runs.
        self.words = sorted(re.sub(r' \(tid \d+\)', '', word) for word in words)
        self.fingerprints = [word for word in self.words if 'fingerprint:' in word]

    def tell(self):
        lines = [f'command: {" ".join(self.command)}', f'status {self.status}', '--- stdout (end)']
        lines += self.out.decode(errors='replace').splitlines()[-8:] + ['--- stderr (end)']
        return '\n'.join(lines + self.err.decode(errors='replace').splitlines()[-12:] + ['--- Weir'] + self.words)


def ends(command, limit, cwd, log=None, before=None, meanwhile=None):
    """Runs the command in a session of its own; all that is left of it is killed at the limit, which is a failure. meanwhile(process)
    is called when it has started."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                               start_new_session=True, preexec_fn=before)
    try:
        if meanwhile:
            meanwhile(process)
        out, err = process.communicate(timeout=limit)
        status = process.returncode
    except subprocess.TimeoutExpired:
        status = None
        kill_session(process.pid)
        out, err = process.communicate()
    words = pathlib.Path(log).read_text(errors='replace').splitlines() if log and os.path.exists(log) else []
    ended = Ended(command, status, out, err, words)
    if status is None:
        raise Failed(f'still running after {limit} s\n{ended.tell()}')
    return ended


def session(leader):
    """Processes of the session that `leader` began."""
    found = []
    for entry in os.listdir('/proc'):
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError):
                if os.getsid(int(entry)) == leader:
                    found.append(int(entry))
    return found


def kill_session(leader):
    for process in session(leader):
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)


def contents(directory):
    """What a replay must not change in a directory: names, kinds, sizes, times of change, bytes."""
    found = {}
    for path in [pathlib.Path(directory), *sorted(pathlib.Path(directory).rglob('*'))]:
        status = path.lstat()
        data = path.read_bytes() if path.is_file() and not path.is_symlink() else b''
        found[str(path)] = (status.st_mode, status.st_size if data else 0, status.st_mtime_ns, status.st_ctime_ns, data)
    return found


@contextlib.contextmanager
def load(processes):
    """So many processes that do nothing but compute, for as long as the block lasts."""
    busy = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def on_one_processor():
    os.sched_setaffinity(0, {random.choice(sorted(os.sched_getaffinity(0)))})


def on_some_processors():
    here = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, set(random.sample(here, random.randint(1, len(here)))))


class Recorded:
    """One program's recording, with what its replays are compared to. It runs in an empty directory of its own."""

    def __init__(self, build, work, name, command, limit):
        self.weir, self.command, self.limit, self.name = f'{build}/bin/weir', command, limit, name
        self.directory, self.work = f'{work}/{name}.recording', f'{work}/{name}.work'
        self.log, self.elsewhere = f'{work}/words', f'{work}/elsewhere'
        shutil.rmtree(self.directory, ignore_errors=True)
        shutil.rmtree(self.work, ignore_errors=True)
        os.mkdir(self.work)
        if not os.path.exists(self.elsewhere):
            os.mkdir(self.elsewhere, 0o555)
        self.ended = None

    def weir_words(self):
        if os.path.exists(self.log):
            os.remove(self.log)
        return ['--log', self.log]

    def record(self, before=None, meanwhile=None):
        chosen = [f'--{key.lower()}={os.environ[key]}' for key in ('VIEW', 'WITHOUT') if key in os.environ]
        words = [self.weir, 'record', *chosen, '--quiet', '--fingerprint', *self.weir_words(), '-o', self.directory, '--', *self.command]
        self.ended = ends(words, self.limit, self.work, self.log, before, meanwhile)
        return self.ended

    def replay(self, before=None, what='a replay'):
        """Fails unless it is what was recorded, to the fingerprint, and leaves no trace in the file system."""
        left = contents(self.work) if os.path.exists(self.work) else None
        now = ends([self.weir, 'replay', *self.weir_words(), self.directory], self.limit, self.elsewhere, self.log, before)
        for which in ('status', 'out', 'err', 'words'):
            if getattr(now, which) != getattr(self.ended, which):
                raise Failed(f'{what} has another {which}\n--- recorded\n{self.ended.tell()}\n--- replayed\n{now.tell()}')
        if os.listdir(self.elsewhere):
            raise Failed(f'{what} made files: {os.listdir(self.elsewhere)}')
        if left is None and os.path.exists(self.work):
            raise Failed(f'{what} made the working directory of the recording')
        if left is not None and contents(self.work) != left:
            raise Failed(f'{what} changed the working directory of the recording: {sorted(contents(self.work))}')
        return now

    def replay_both_ways(self):
        """Beside other work; then on one processor, where the recording's working directory is no more."""
        with load(2):
            self.replay(what='the replay under load')
        shutil.rmtree(self.work)
        self.replay(on_one_processor, 'the replay on one processor')


def main(test):
    """Calls test(work, arguments) with an empty directory; an exception Failed is the result 1 with its words."""
    work = tempfile.mkdtemp(prefix='weir-test-')
    os.chmod(work, 0o755)
    try:
        print(test(work, sys.argv[1:]))
    except Failed as failure:
        print(f'FAILED: {failure}')
        sys.exit(1)
    finally:
        shutil.rmtree(work, ignore_errors=True)
