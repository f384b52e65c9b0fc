#!/usr/bin/python3
"""weir-bench as it is used: small runs, its reports, and what it says of columns that fail.   usage: command.py BUILD"""

import csv
import glob
import html.parser
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

BUILD = os.path.abspath(sys.argv.pop(1))
BENCH = os.path.join(BUILD, "bin", "weir-bench")
ALONE = {"meta", "br", "hr", "img", "link", "input"}
NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
SLEEP = "61.2578"  # seconds; nobody else sleeps so


def bench(*words, **more):
    environment = {**os.environ, **more}
    return subprocess.run(
        [BENCH, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, env=environment
    )


class Page(html.parser.HTMLParser):
    """Complains of tags that do not match, of ids that are there twice, and of everything outside the page."""

    def __init__(self, text):
        super().__init__()
        self.open, self.complaints, self.ids, self.refers, self.count = [], [], set(), set(), {}
        self.feed(text)
        self.close()
        self.complaints += [f"{tag} is never closed" for tag in self.open]
        self.complaints += [f"{name} is referred to but not there" for name in self.refers - self.ids]

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag in ("script", "link", "iframe", "object", "img"):
            self.complaints.append(f"<{tag}>")
        for name, value in attrs:
            value = value or ""
            if name == "id":
                self.complaints += [f"id {value} twice"] if value in self.ids else []
                self.ids.add(value)
            elif name in ("href", "xlink:href", "src", "data", "action"):
                self.complaints += [] if value.startswith("#") else [f"{name}={value}"]
                self.refers.add(value[1:])
            for target in re.findall(r"url\(([^)]*)\)", value):
                self.complaints += [] if target.startswith("#") else [f"url({target})"]
                self.refers.add(target[1:])

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.complaints.append(f"</{tag}> where it does not belong")


def reports(folder):
    return {kind: os.path.join(folder, "report." + kind) for kind in ("json", "csv", "html", "png")}


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def sleepers():
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            found += [path] if SLEEP in read(path) else []
        except (OSError, ValueError):
            pass
    return found


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.paths = reports(cls.folder.name)
        words = [word for kind, path in cls.paths.items() for word in ("--" + kind, path)]
        points = ["--points", "token:isolated,token:direct", "--column", "again={program} {arguments}"]
        cls.done = bench("--size", "small", "--threads", "2", "--pairs", "1", *points, *words, "histogram", "kmeans")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_all_is_well(self):
        self.assertEqual((self.done.returncode, self.done.stderr), (0, ""))
        for words in ("histogram 2", "kmeans 2", "token:direct", "again", "geometric means", "Dthreads: Efficient"):
            self.assertIn(words, self.done.stdout)

    def test_json(self):
        found = json.loads(read(self.paths["json"]))
        self.assertEqual(
            [(c["program"], c["threads"], c["size"], c["failure"]) for c in found["cases"]],
            [("histogram", 2, "small", ""), ("kmeans", 2, "small", "")],
        )
        for one in found["cases"]:
            self.assertGreater(one["sequential_seconds"], 0)
            self.assertEqual(
                [column["name"] for column in one["columns"]], ["native", "token:isolated", "token:direct", "again"]
            )
            for column in one["columns"]:
                self.assertEqual(column["state"], "ok")
                self.assertEqual({m: len(s) for m, s in column["samples"].items()}, {"wall": 1, "cpu": 1, "memory": 1})
                self.assertTrue(all(value > 0 for values in column["samples"].values() for value in values))
            self.assertIn("dthreads_paper", [report["table"] for report in one["reported"]])

    def test_csv(self):
        rows = list(csv.DictReader(read(self.paths["csv"]).splitlines()))
        self.assertEqual(len(rows), 2 * 3 * 3)  # programs, columns, metrics
        for row in rows:
            self.assertAlmostEqual(float(row["value"]) / float(row["native"]), float(row["ratio"]), places=6)

    def test_html_is_whole_and_alone(self):
        text = read(self.paths["html"])
        page = Page(text)
        self.assertEqual(page.complaints, [])
        self.assertLessEqual(set(re.findall(r"https?://[^\"'\s<>)]*", text)), NAMESPACES)
        self.assertNotIn("@import", text)
        self.assertGreaterEqual(page.count["table"], 3)
        self.assertEqual(page.count["svg"], 2)
        for picture in re.findall(r"<svg.*?</svg>", text, re.S):
            xml.etree.ElementTree.fromstring(picture)

    def test_png(self):
        with open(self.paths["png"], "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")


class Failures(unittest.TestCase):
    def test_columns_that_fail_are_named_and_have_no_figures(self):
        columns = {
            "slow": (f"bash -c 'sleep {SLEEP} & sleep {SLEEP}' {{command}}", "time-out", "still running after 2 s"),
            "wrong": ("echo {command}", "wrong result", "something else than the sequential version"),
            "fails": ("false {command}", "failed", "status 1"),
            "dies": ("bash -c 'echo some words >&2; kill -SEGV $$' {command}", "failed", "killed by SIGSEGV some words"),
            "gone": ("/nonexistent/program {command}", "failed", "cannot be started"),
        }
        with tempfile.TemporaryDirectory() as folder:
            paths = reports(folder)
            words = [word for name, (command, _, _) in columns.items() for word in ("--column", f"{name}={command}")]
            done = bench(
                "--size",
                "small",
                "--threads",
                "2",
                "--pairs",
                "1",
                "--limit",
                "2",
                *words,
                "--json",
                paths["json"],
                "--csv",
                paths["csv"],
                "--html",
                paths["html"],
                "histogram",
            )
            self.assertEqual((done.returncode, done.stderr), (1, ""))
            [one] = json.loads(read(paths["json"]))["cases"]
            rows = {row["column"]: row for row in csv.DictReader(read(paths["csv"]).splitlines())}
            text = read(paths["html"])
        self.assertEqual(Page(text).complaints, [])
        for column in one["columns"]:
            if column["name"] in columns:
                _, state, message = columns[column["name"]]
                self.assertEqual((column["state"], column["ratio"]), (state, {}))
                self.assertIn(message, column["message"])
                self.assertEqual(rows[column["name"]]["state"], state)
                self.assertIn(f"{column['name']}: {state.upper()}: {column['message']}", done.stdout)
            else:
                self.assertEqual(column["state"], "ok")
        self.assertEqual(sleepers(), [])

    def test_a_program_that_fails_natively_has_no_figures(self):
        done = bench("--pairs", "1", "--", "/bin/false")
        self.assertEqual(done.returncode, 1)
        self.assertIn("NO FIGURES: native: failed: status 1", done.stdout)

    def test_misuse(self):
        for words, why in (
            ((), "say what to measure"),
            (("nosuch",), "no workload 'nosuch'"),
            (("--points", "a:b", "pca"), "no point"),
            (("--json", "/nonexistent/file", "pca"), "cannot write"),
            (("--preset", "engine", "nosuch"), "nothing"),
            (("--preset", "engine", "--analysis"), "own numbers of threads"),
            (("--threads", "2", "--", "true"), "{threads}"),
            (("--processors", "99999", "pca"), "only the processors"),
            (("--build", "/nonexistent", "pca"), "build first"),
            (("--points", "none", "pca"), "nothing to compare"),
        ):
            done = bench(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(why, done.stderr)


class Uses(unittest.TestCase):
    def test_a_program_of_ones_own_on_one_processor(self):
        done = bench(
            "--pairs", "2", "--threads", "1,2", "--processors", "1", "--same-output", "--", "/bin/echo", "{threads}"
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("1 of ", done.stdout)
        self.assertIn("echo 2", done.stdout)

    def test_figures_that_programs_print(self):
        done = bench("--preset", "engine", "--pairs", "1", "thread_creation")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"thread_creation at_once_8 +token:direct .* 3 (met|MISSED)")

    def test_counters(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            done = bench("--analysis", "--size", "small", "--threads", "2", "--pairs", "1", "--json", path, "kmeans")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            [one] = json.loads(read(path))["cases"]
        self.assertEqual([c["name"] for c in one["columns"]], ["native", "token:isolated", "token:direct", "free:isolated"])
        self.assertGreater(one["counters"]["transactions"], 10)
        self.assertAlmostEqual(sum(one["counters"]["phases"].values()), 100)
        self.assertIn("paper, 8 threads", done.stdout)

    def test_recordings(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            points = "replay:coherent,record:coherent-pool"
            done = bench("--points", points, "--size", "small", "--threads", "2", "--pairs", "1", "--json", path, "dedup", "kmeans")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            [one, _] = json.loads(read(path))["cases"]
        self.assertEqual([c["against"] for c in one["columns"]], ["native", "native", "record:coherent", "native"])
        self.assertEqual([c["name"] for c in one["columns"]][1:], ["record:coherent", "replay:coherent", "record:coherent-pool"])
        for column in one["columns"]:
            self.assertEqual("recording" in column["samples"], column["name"].startswith("record:"))
        for words in ("against record:coherent", "size of the recordings", "time with all but this one", "UPLAY record, its mean"):
            self.assertIn(words, done.stdout)

    def test_a_recording_that_takes_too_long_is_named_and_its_replay_is_left_out(self):
        done = bench("--points", "replay:direct", "--pairs", "1", "--limit", "1.5", "--", "/bin/bash", "-c",
                     'case "$LD_PRELOAD" in *weir*) sleep 9;; esac')  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertIn("record:direct: TIME-OUT: still running after 1.5 s", done.stdout)
        self.assertIn("replay:direct: FAILED: there is no recording", done.stdout)

    def test_a_server_and_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            words = ["--preset", "paper-uplay", "--threads", "2", "--size", "small", "--pairs", "1", "--html", path]
            done = bench(*words, "webserver*", "racey")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(Page(read(path)).complaints, [])
        self.assertRegex(done.stdout, r"racey 2 +of 100 runs so many print different results: native \d+, record:coherent \d+")
        self.assertRegex(done.stdout, r"webserver_alone 2 +[0-9.]+ ms +- +[0-9.]+ \(")

    def test_lists(self):
        self.assertIn("water_spatial", bench("--list").stdout)
        done = bench("--preset", "paper-dthreads", "--list")
        self.assertEqual(len(done.stdout.splitlines()), 14 * 3)
        self.assertIn("--threads 8 --size medium", done.stdout)

    def test_whoever_ends_it_ends_what_it_runs(self):
        running = subprocess.Popen([BENCH, "--", "/bin/sleep", SLEEP], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while len(sleepers()) < 2 and time.monotonic() < deadline:  # weir-bench itself and the sleeper
            time.sleep(0.02)
        running.terminate()
        running.wait(20)
        self.assertEqual(sleepers(), [])

    def test_it_ends_what_began_just_before_the_signal(self):
        # The program runs, and the constructor that started it does not return.
        began = (
            "import os, signal, subprocess\n"
            "start = subprocess.Popen._execute_child\n"
            "def started(self, *words):\n"
            "    start(self, *words)\n"
            f"    if '{SLEEP}' in str(words):\n"
            "        os.kill(os.getpid(), signal.SIGTERM)\n"
            "subprocess.Popen._execute_child = started\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "sitecustomize.py"), "w", encoding="utf-8") as file:
                file.write(began)
            done = bench("--", "/bin/sleep", SLEEP, PYTHONPATH=folder)
        self.assertEqual(done.returncode, 128 + signal.SIGTERM, done.stderr)
        self.assertEqual(sleepers(), [])


if __name__ == "__main__":
    unittest.main()
