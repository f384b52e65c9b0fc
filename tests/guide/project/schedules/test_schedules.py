"""A program under schedules, by pytest: fails if weir hunt finds one under which it fails."""
import subprocess


def test_pool_under_schedules():
    hunt = ["weir", "hunt", "--quiet", "--runs", "300", "--no-recording", "--"]
    ended = subprocess.run([*hunt, "build/pool_test", "hastily"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
