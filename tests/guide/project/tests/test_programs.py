"""Tests of programs by pytest. WEIR, from the environment, is what they are started by: "weir check", say."""
import os
import shlex
import subprocess

weir = shlex.split(os.environ.get("WEIR", ""))


def run(*words):
    return subprocess.run([*weir, *words], capture_output=True, text=True, timeout=120)


def test_counter():
    ended = run("build/counter", "4")
    assert (ended.returncode, ended.stdout) == (0, "4000\n"), ended.stderr


def test_pool():
    ended = run("build/pool_test")
    assert ended.returncode == 0, ended.stdout + ended.stderr
