"""One run of a program that fuzzing has made: what program.py and racy.py share."""
import os
import subprocess


class Failed(Exception):
    pass


def run(command, limit, cwd=None, with_errors=False):
    """Standard output of a run that ended with 0, and what it said on standard error, if asked for, in between. One that does not end in
    `limit` seconds is a failure, too."""
    process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT if with_errors else subprocess.PIPE, text=True, errors='replace', start_new_session=True)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            said = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            said = (*process.communicate(), '\n(SIGTERM did not end it)')
        last_words = ''.join(part or '' for part in said[0 if with_errors else 1:])
        raise Failed(f'not over after {limit} s\n{last_words[-3000:]}') from None
    if process.returncode:
        raise Failed(f'status {process.returncode}\n{(out if with_errors else err)[-3000:]}')
    return out
