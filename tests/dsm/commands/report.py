#!/usr/bin/env python3
"""weir-dsm-report: a page of a run says what the run's own counters say, needs nothing else, and is seen by a browser.

usage: report.py BUILD"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
RUN, REPORT = BUILD / "bin/weir-dsm-run", BUILD / "bin/weir-dsm-report"
SECTIONS = ["Timeline by node", "Zoomed", "Misses by allocation", "False sharing", "Waits", "Messages by kind",
            "What tapes saved"]
failed = []


def expect(is_so, what):
    if not is_so:
        print(f"BAD: {what}")
        failed.append(what)


def run(*words, status=0, **variables):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **variables})
    expect(done.returncode == status, f"{words}: status {done.returncode}: {done.stderr[-2000:]}")
    return done


class Page(HTMLParser):
    """Sections with their tables, as lists of rows of text."""

    def __init__(self, text):
        super().__init__()
        self.sections, self.name, self.tag, self.outside = {}, None, None, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.outside += [value for name, value in attributes if name in ("src", "href", "data")]
        self.tag = tag
        if tag == "h2":
            self.name = ""
        elif tag == "tr":
            self.sections[self.name].append([])
        elif tag in ("td", "th"):
            self.sections[self.name][-1].append("")

    def handle_data(self, data):
        if self.tag == "h2" and self.name == "":
            self.name = data
            self.sections[data] = []
        elif self.name and self.sections[self.name] and self.tag in ("td", "th", "span", "b"):
            if self.sections[self.name][-1]:
                self.sections[self.name][-1][-1] += data


def number(text):
    return int(text.split(" ")[0].replace(",", ""))


def check_run():
    done = run(RUN, "-n", 3, "--tapes", "called", "--report", "page.html", BUILD / "examples/dsm/heat", 64, 20)
    expect("heat: " in done.stdout, f"the program's own output: {done.stdout}")
    for name in ("page.html", "page.trace.json", "page.stats.json", "page.sharing.txt"):
        expect(Path(name).is_file(), f"{name} is not there")
    text = Path("page.html").read_text(encoding="utf-8")
    page, stats = Page(text), json.loads(Path("page.stats.json").read_text(encoding="utf-8"))
    expect(list(page.sections) == SECTIONS, f"sections {list(page.sections)}")
    expect(not page.outside and not re.search(r"https?://(?!www\.w3\.org)", text), f"the page needs {page.outside}")
    missed = [row for row in page.sections["Misses by allocation"][1:]]
    expect(sum(number(row[1]) for row in missed) == stats["all"]["misses"], f"misses {missed} of {stats['all']}")
    expect(any("heat.c" in row[0] for row in missed), f"no allocation by its line: {missed}")
    sent = page.sections["Messages by kind"]
    total = next(row for row in sent if row[0] == "all")
    for column, kind in enumerate(("lock", "barrier", "flush", "data"), 1):
        expect(number(total[column]) == stats["all"][f"{kind}_messages"], f"{kind} messages {total}")
    shares = page.sections["Timeline by node"][1:]
    expect(len(shares) == 3 and all(95 <= sum(number(cell) for cell in row[1:]) <= 105 for row in shares),
           f"shares of time {shares}")
    used, missed_all = stats["all"]["updates_used"], stats["all"]["misses"]
    expect(f"<b>{100 * used / (used + missed_all):.0f} %</b>" in text, "what tapes saved")
    return text


def seen(name):
    """What a browser makes of it: the script has drawn, and complained of nothing."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        expect(False, "chromium is missing: tools/setup page")
        return
    done = run(browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + tempfile.mkdtemp(dir="."),
               "--enable-logging=stderr", "--dump-dom", Path(name).resolve().as_uri())
    expect(int((re.search(r'data-drawn="(\d+)"', done.stdout) or [0, 0])[1]) > 0, f"{name}: nothing was drawn")
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    expect(not complaints, f"{name}: {complaints}")


def check_hostile():
    """Names from a program are text, and nothing else."""
    name = "</script><script>document.title='owned'</script>\"'&"
    timeline = {"traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": name}},
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 1, "args": {"name": name}},
        {"ph": "X", "name": "miss", "pid": 0, "tid": 1, "ts": 5.0, "dur": 3.0, "args": {"unit": 1, "in": name}},
        {"ph": "X", "name": "miss", "pid": 0, "tid": 1, "ts": 9.0, "dur": 0, "args": {"unit": 1, "in": name + " + 7"}}]}
    Path("hostile.json").write_text(json.dumps(timeline), encoding="utf-8")
    Path("hostile.txt").write_text(f"1. {name}, 3 kB: 1 of 1 units", encoding="utf-8")
    run(REPORT, "hostile.json", "--sharing", "hostile.txt", "--title", name)
    text = Path("hostile.html").read_text(encoding="utf-8")
    expect("<script>document" not in text, "a name became a script")
    expect(Page(text).sections["Misses by allocation"][1][1] == "2", "two misses of one allocation")
    seen("hostile.html")


def check_nothing():
    """A run of one node, without messages and misses; a timeline that is cut short."""
    run(BUILD / "examples/dsm/tasks", 6, WEIR_DSM_TIMELINE="one.json")
    run(REPORT, "one.json")
    text = Path("one.html").read_text(encoding="utf-8")
    expect("No thread had to wait for another node" in text and "had no WEIR_DSM_STATS" in text, "one node")
    run(RUN, "-q", "-n", 2, "--report", "cut.html", "--set", "WEIR_DSM_TIMELINE_EVENTS=1024", BUILD / "examples/dsm/heat",
        64, 900)
    expect("ends early" in Path("cut.html").read_text(encoding="utf-8"), "no word about dropped events")


def check_damaged():
    good = Path("page.trace.json").read_text(encoding="utf-8")
    for name, text in {"empty": "", "cut": good[:len(good) // 2], "other": "[1, 2]", "list": '{"traceEvents": [1]}',
                       "event": '{"traceEvents": [{"ph": "X"}]}', "number": '{"traceEvents": 3}',
                       "text": '{"traceEvents": [{"ph":"X","name":3,"pid":0,"tid":1,"ts":"x","dur":1}]}'}.items():
        Path(f"{name}.json").write_text(text, encoding="utf-8")
        done = run(REPORT, f"{name}.json", status=125)
        expect(done.stderr.startswith("weir-dsm-report: ") and done.stderr.count("\n") == 1, f"{name}: {done.stderr}")
    run(REPORT, "nothing.json", status=125)
    run(REPORT, "page.trace.json", "--stats", "page.sharing.txt", status=125)
    run(REPORT, "page.trace.json", "--stats", "other.json", status=125)
    run(REPORT, "page.trace.json", "-o", "no/folder/page.html", status=125)
    run(REPORT, status=2)
    run(RUN, "-q", "--report", "failed.html", "/bin/false", status=1)
    expect(not Path("failed.html").exists(), "a page of a run that left nothing")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_run()
    seen("page.html")
    check_hostile()
    check_nothing()
    check_damaged()
    os.chdir("/")
sys.exit(1 if failed else 0)
