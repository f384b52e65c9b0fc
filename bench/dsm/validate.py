#!/usr/bin/env python3
"""Question: how near does weir-dsm-predict come to what a run takes, and from a recording on two nodes to what it takes on more?

Each node is a host of its own (tests/dsm/hosts.sh, so it takes root): a network namespace whose link has a given rate, both ways. The model's network is measured before, by
bench/dsm/roundtrip between two such hosts: bandwidth from the difference of its two longer answers; what a message costs besides from the shortest answer without a limit to
the rate, shared out as the preset tcp-loopback has it. Faults and diffs cost what the model takes for granted. The hosts share this machine's processors, and the model is
told how many there are; so the rate is to be low enough that the network is the slow part. What else runs here is not modelled; nor is that one frame (576 bytes) after a
pause passes the limit at once.

Figures are medians over the rounds, by the nodes' clocks between the reset and the reading of counters, without tapes.

examples:
  validate.py                                     2, 4 and 8 hosts, 10 Mbit/s
  validate.py --rate 100 --nodes 2,4 --apps sor --rounds 5 --keep /tmp/recordings

status: 0 all ran, 1 a run failed, 2 misused, 77 no hosts here."""

import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
APPLICATIONS = {
    "sor": "--rows 400 --columns 500 --iterations 10",
    "gauss": "--size 160 --chunk 8",
    "water-nsquared": "--molecules 216 --iterations 3",
}
SHARES = {"latency": 4 / 34, "send": 3 / 34, "serve": 12 / 34, "wake": 8 / 34}  # of a round trip; it has two of the first two


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="build folder (%(default)s)")
    parser.add_argument("--rate", type=float, default=10, help="of each host's link, in Mbit/s (%(default)s)")
    parser.add_argument("--nodes", default="2,4,8", help="(%(default)s)")
    parser.add_argument("--apps", default=",".join(APPLICATIONS), help="of " + ",".join(APPLICATIONS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run (%(default)s)")
    parser.add_argument("--keep", help="folder for the recordings")
    options = parser.parse_args()
    options.nodes = [int(count) for count in options.nodes.split(",")]
    options.apps = options.apps.split(",")
    if unknown := [name for name in options.apps if name not in APPLICATIONS]:
        parser.error("no application " + ", ".join(unknown))
    return options


def on_hosts(options, count, command, rate=None, **environment):
    hosts = [os.path.join(ROOT, "tests", "dsm", "hosts.sh"), str(count)] + (["--rate", f"{rate:g}"] if rate else [])
    done = subprocess.run(["timeout", str(options.timeout)] + hosts + command, capture_output=True, text=True, env={**os.environ, "WEIR_DSM_TAPES": "off", **environment})
    if done.returncode:
        sys.stderr.write(f"{' '.join(command)} on {count} hosts: status {done.returncode}\n{done.stdout}{done.stderr}")
        sys.exit(77 if done.returncode == 77 else 1)


def round_trips(options, path, rounds, rate):
    on_hosts(options, 2, [os.path.join(options.build, "bench/dsm/roundtrip"), "--rounds", str(rounds), "--json", path], rate)
    with open(path) as file:
        return {one["bytes"]: one["median"] for one in json.load(file)["microseconds"] if one["asked"] == "idle"}


def measured_network(options, work):
    """As options of weir-dsm-predict."""
    path = os.path.join(work, "roundtrip.json")
    fixed = round_trips(options, path, 1000, None)[64]
    trips = round_trips(options, path, 50, options.rate)
    bandwidth = (65536 - 4096) / (trips[65536] - trips[4096])
    print("Measured round trips, 64 B asked: " + ", ".join(f"{size} B {time:.0f} us" for size, time in trips.items()))
    print(f"Model: {bandwidth:.3f} MB/s, {fixed:.0f} us for a round trip besides; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    costs = [f"--{name}={share * fixed:.2f}" for name, share in SHARES.items()]
    return ["--network=tcp-loopback", f"--bandwidth={bandwidth:.4f}", "--links", f"--cores={os.cpu_count()}"] + costs


def milliseconds(text):
    value, unit = text.split()
    return float(value) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]


def comparisons(options, recordings, network):
    """Of each table that weir-dsm-predict prints: its title, and predicted and measured by row."""
    command = [os.path.join(options.build, "bin/weir-dsm-predict"), "validate"] + recordings + network
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = []
    for line in text.splitlines():
        if row := re.match(r" *(time|misses|messages|bytes) +(\d[\d.]*(?: [num]?s)?) +(\d[\d.]*(?: [num]?s)?) ", line):
            convert = milliseconds if row[1] == "time" else int
            found[-1][1][row[1]] = (convert(row[2]), convert(row[3]))
        elif "nodes, " in line:
            found.append((line, {}))
    return found


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as work:
        folder = options.keep or work
        os.makedirs(folder, exist_ok=True)
        network = measured_network(options, work)
        print("| | nodes | time, predicted and measured | off | from 2 nodes | off | misses | messages | kB |\n|---|---|---|---|---|---|---|---|---|")
        for application in options.apps:
            rows = {}
            for _ in range(options.rounds):
                recordings = []
                for count in options.nodes:
                    recordings.append(os.path.join(folder, f"{application}-{count}"))
                    program = [os.path.join(options.build, "bench/dsm", application)] + shlex.split(APPLICATIONS[application])
                    on_hosts(options, count, program, options.rate, WEIR_DSM_RECORD=recordings[-1])
                for title, row in comparisons(options, recordings, network):
                    count = int(re.search(r"(\d+) nodes, ", title)[1])
                    rows.setdefault((count, "from" in title.split("nodes, ")[1]), []).append(row)
            for count in options.nodes:
                print_row(application, count, rows[count, False], rows.get((count, True)))


def print_row(application, count, same, scaled):
    def median(rows, name, which):
        return statistics.median(row[name][which] for row in rows)

    def off(rows):
        return f"{100 * statistics.median(row['time'][0] / row['time'][1] - 1 for row in rows):+.0f} %"

    cells = [application, str(count), f"{median(same, 'time', 0):.0f}, {median(same, 'time', 1):.0f} ms", off(same)]
    cells += [f"{median(scaled, 'time', 0):.0f} ms", off(scaled)] if scaled else ["", ""]
    cells += [f"{median(same, name, 0):,.0f}, {median(same, name, 1):,.0f}" for name in ("misses", "messages")]
    cells.append(f"{median(same, 'bytes', 0) / 1e3:,.0f}, {median(same, 'bytes', 1) / 1e3:,.0f}")
    print("| " + " | ".join(cells) + " |", flush=True)


main()
