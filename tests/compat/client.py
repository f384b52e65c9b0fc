#!/usr/bin/python3
"""Clients for the servers of the compatibility suite; each ends by itself just before the case's limit.

client.py listening PORT                            wait until somebody listens
client.py socket PATH                               the same at a socket of the file system
client.py memcached PORT CONNECTIONS ROUNDS         set, get, delete, incr; every answer is checked
client.py redis PORT CONNECTIONS ROUNDS             the same with pipelined commands
client.py http PORT CONNECTIONS ROUNDS FILE...      get each file; prints one digest for each
"""
import hashlib
import http.client
import os
import socket
import sys
import threading
import time

PATIENCE = float(os.environ.get("COMPAT_LIMIT", "60")) - 15
DEADLINE = time.monotonic() + PATIENCE


def connect(port):
    """A connection to a port, or to a socket of the file system, as soon as the server listens."""
    while True:
        try:
            if isinstance(port, str):
                link = socket.socket(socket.AF_UNIX)
                link.connect(os.path.relpath(port))  # a whole path may be too long
                return link
            link = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return link
        except OSError:
            if time.monotonic() > DEADLINE:
                sys.exit("nobody listens")
            time.sleep(0.02)


def expect(got, wanted, what):
    if got != wanted:
        raise AssertionError(f"{what}: got {got[:80]!r}, not {wanted[:80]!r}")


def memcached(port, number, rounds):
    link = connect(port)
    answers = link.makefile("rb")

    def command(text, wanted):
        link.sendall(text)
        for line in wanted:
            expect(answers.read(len(line)), line, text[:40])

    for i in range(rounds):
        key = b"key-%d-%d" % (number, i % 17)
        value = hashlib.sha256(key + b"%d" % i).hexdigest().encode() * (1 + i % 40)
        command(b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value), [b"STORED\r\n"])
        command(b"get %s\r\n" % key, [b"VALUE %s 0 %d\r\n%s\r\nEND\r\n" % (key, len(value), value)])
        if i % 5 == 0:
            command(b"delete %s\r\n" % key, [b"DELETED\r\n"])
            command(b"get %s\r\n" % key, [b"END\r\n"])
        # One counter for all connections: an increment that is lost shows at the end.
        link.sendall(b"incr shared 1\r\n")
        answers.readline()
    link.close()


def redis(port, number, rounds):
    link = connect(port)
    answers = link.makefile("rb")
    for i in range(rounds):
        key, value = f"own:{number}:{i % 13}", "v" * (1 + i * 37 % 3000)
        link.sendall(f"SET {key} {value}\r\nGET {key}\r\nINCR shared\r\nSTRLEN {key}\r\n".encode())
        expect(answers.readline(), b"+OK\r\n", "SET")
        expect(answers.readline(), b"$%d\r\n" % len(value), "GET length")
        expect(answers.read(len(value) + 2), value.encode() + b"\r\n", "GET")
        answers.readline()
        expect(answers.readline(), b":%d\r\n" % len(value), "STRLEN")
    link.close()


def fetch(port, rounds, names, digests):
    for _ in range(rounds):
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        for name in names:
            link.request("GET", "/" + name)
            answer = link.getresponse()
            digests.add((name, answer.status, hashlib.sha256(answer.read()).hexdigest()))
        link.close()


def together(count, work):
    """Runs work(0) ... work(count - 1) at once and fails if one of them does."""
    failures = []

    def guarded(number):
        try:
            work(number)
        except Exception as failure:  # noqa: BLE001: reported below, whatever it is
            failures.append(f"connection {number}: {failure}")

    team = [threading.Thread(target=guarded, args=(n,), daemon=True) for n in range(count)]
    for one in team:
        one.start()
    for one in team:
        one.join(max(0.1, DEADLINE - time.monotonic()))
        if one.is_alive():
            failures.append("a connection had no answer in time")
    if failures:
        sys.exit("\n".join(failures))


def ask_one(port, text):
    link = connect(port)
    link.sendall(text)
    answer = link.recv(200)
    link.close()
    return answer.decode().strip().replace("\r\n", " ")


def main():
    kind = sys.argv[1]
    port = sys.argv[2] if kind == "socket" else int(sys.argv[2])
    connect(port).close()
    if kind in ("listening", "socket"):
        return
    count, rounds = int(sys.argv[3]), int(sys.argv[4])
    if kind == "memcached":
        print(ask_one(port, b"set shared 0 0 1\r\n0\r\n"))
        together(count, lambda number: memcached(port, number, rounds))
        print(ask_one(port, b"get shared\r\n"))
    elif kind == "redis":
        together(count, lambda number: redis(port, number, rounds))
        print(ask_one(port, b"GET shared\r\n"))
    elif kind == "http":
        digests = set()
        together(count, lambda _: fetch(port, rounds, sys.argv[5:], digests))
        for digest in sorted(digests):
            print(*digest)
    else:
        sys.exit(__doc__)


main()
