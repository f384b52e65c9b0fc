#!/usr/bin/python3
"""recorded.py DIRECTORY WEIR VIEW PROGRAM ARGS: runs PROGRAM under `weir record`, and ends as it ends.

Under DIRECTORY it makes a directory for this run: recording, log (Weir's own words), stdout, stderr (what the program wrote,
which also goes where it would have gone) and status. Signals that end a server are passed on.
"""
import os
import signal
import subprocess
import sys
import tempfile
import threading

PASSED_ON = (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT, signal.SIGHUP)


def pump(source, copy, sink):
    """Until the program closes its end, or nobody reads ours: then it is to have its SIGPIPE."""
    with open(copy, "wb", buffering=0) as kept:
        while data := os.read(source, 65536):
            kept.write(data)
            try:
                while data:
                    data = data[os.write(sink, data):]
            except BrokenPipeError:
                break
    os.close(source)


def main():
    directory, weir, view, *command = sys.argv[1:]
    place = tempfile.mkdtemp(dir=directory)
    # A program that becomes another user goes on to write there.
    os.chmod(place, 0o711)
    os.close(os.open(f"{place}/log", os.O_CREAT | os.O_WRONLY, 0o600))
    os.chmod(f"{place}/log", 0o666)
    waiting = []
    for number in PASSED_ON:
        signal.signal(number, lambda got, _: waiting.append(got))
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    ends = [os.pipe(), os.pipe()]
    child = subprocess.Popen(
        [weir, "record", "--quiet", "--fingerprint", "--view", view, "-o", f"{place}/recording", "--log", f"{place}/log", "--", *command],
        stdout=ends[0][1], stderr=ends[1][1], restore_signals=True)
    pumps = []
    for (source, far), name, sink in zip(ends, ("stdout", "stderr"), (1, 2)):
        os.close(far)
        pumps.append(threading.Thread(target=pump, args=(source, f"{place}/{name}", sink)))
        pumps[-1].start()
    for number in PASSED_ON:
        signal.signal(number, lambda got, _: child.send_signal(got))
    for number in waiting:
        child.send_signal(number)
    status = child.wait()
    for one in pumps:
        one.join()
    with open(f"{place}/status", "w", encoding="ascii") as file:
        print(status if status >= 0 else 128 - status, file=file)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


main()
