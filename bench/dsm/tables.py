#!/usr/bin/env python3
"""Question: what do tapes, and regions in place of pages, save? Runs the applications under mpirun, the variants of each turn and turn about, and prints tables 2 to 8 of Tapeworm, and 7 and 8 of the
region paper, with the papers' figures beside ours.

Figures are medians over the rounds. The speed-up is against the sequential version, in plain memory, on the same machine; every run's result is compared with that version's.

examples:
  tables.py --launcher 'mpirun --oversubscribe -n {n}'
  tables.py --launcher 'mpirun.mpich -n {n}' --protocol hlrc --apps water-nsquared,gauss --rounds 5
  tables.py --sizes small --rounds 1                 whether all of them run

status: 0 all were right, 1 a run failed or was wrong, 2 misused."""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys

import paper_figures as paper

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def arguments():
    names = [table.program for table in paper.TABLES]
    names += [name for name in paper.REGION_PROGRAMS if name not in names]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="build folder (%(default)s)")
    parser.add_argument("--launcher", default="mpirun --oversubscribe -n {n}", help="what starts {n} nodes (%(default)s)")
    parser.add_argument("--nodes", type=int, default=8, help="for Tapeworm's tables (%(default)s)")
    parser.add_argument("--region-nodes", type=int, default=4, help="for the region paper's (%(default)s)")
    parser.add_argument("--protocol", default="lrc", choices=("sc", "lrc", "hlrc"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--apps", default=",".join(names), help="of " + ",".join(names))
    parser.add_argument("--sizes", default="paper", choices=("paper", "ordinary", "small"))
    parser.add_argument("--tables", default="tapes,regions", help="tapes, regions or both")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="for the programs' environment")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run (%(default)s)")
    parser.add_argument("--json", help="file for the lines of all runs")
    options = parser.parse_args()
    options.apps = options.apps.split(",")
    if unknown := [name for name in options.apps if name not in names]:
        parser.error("no application " + ", ".join(unknown))
    return options


def launchers_environment():
    """As tests/dsm/launchers.sh has it: Open MPI's launcher refuses root, and MPICH's a machine without a name."""
    environment = dict(os.environ)
    if os.geteuid() == 0:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    if not os.uname().nodename:
        environment.setdefault("HYDRA_IFACE", "lo")
    return environment


class Runs:
    """Runs programs, and keeps what they print."""

    def __init__(self, options):
        self.options = options
        self.lines = {}  # of each case: what its runs have printed
        self.failed = []

    def run(self, case):
        program, tapes, unit, nodes = case
        options = self.options
        command = shlex.split(options.launcher.replace("{n}", str(nodes)))
        command += ["env", f"WEIR_DSM_PROTOCOL={options.protocol}", *options.set]
        command += [os.path.join(options.build, "bench", "dsm", program), "--check", "--tapes", tapes]
        command += [] if options.sizes == "ordinary" else ["--" + options.sizes]
        command += [] if unit == "page" else ["--unit", unit]
        if sys.stderr.isatty():
            print(f"{program} {unit} {tapes}, {nodes} nodes".ljust(60), end="\r", file=sys.stderr)
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout, env=launchers_environment())
            status, printed, said = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            status, printed, said = "time is over", "", ""
        lines = [json.loads(line) for line in printed.splitlines() if line.startswith('{"app"')]
        if status or len(lines) != 1 or lines[0]["result"] != "right":
            self.failed.append(f"{shlex.join(command)}: status {status}\n{said[-800:]}")
            print(f"FAILED: {self.failed[-1]}", file=sys.stderr)
        else:
            self.lines.setdefault(case, []).append(lines[0])

    def run_all(self, cases):
        for _ in range(self.options.rounds):
            for case in cases:
                self.run(case)

    def figures(self, case):
        """Medians of what a case's runs printed; None where none was right."""
        lines = self.lines.get(case)
        if not lines:
            return None

        def median(of):
            return statistics.median(of(line) for line in lines)

        def count(name):
            return median(lambda line: line["counters"][name])

        found = {kind: median(lambda line: line["counters"]["messages"][kind]) for kind in ("lock", "barrier", "flush", "data")}
        found["messages"] = median(lambda line: sum(line["counters"]["messages"].values()))
        found["misses"], found["lock_pages"], found["created"] = count("misses"), count("lock_pages"), count("diffs_made")
        found["kilobytes"] = count("bytes") / 1024
        found["traps"] = count("read_faults") + count("write_faults")
        received = count("updates_received")
        found["used"] = 100 * count("updates_used") / received if received else None
        found["seconds"], found["sequential"] = median(lambda line: line["seconds"]), median(lambda line: line["sequential_seconds"])
        found["speedup"] = found["sequential"] / found["seconds"] if found["seconds"] else None
        return found


def shown(value):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:.2f}" if isinstance(value, float) and abs(value) < 100 and value != int(value) else f"{value:.0f}"


def print_table(title, headings, rows):
    print("\n" + title)
    cells = [list(headings)] + [[shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    for row in cells:
        line = [cell.ljust(width) if at == 0 else cell.rjust(width) for at, (cell, width) in enumerate(zip(row, widths))]
        print("  " + "  ".join(line).rstrip())


def saved(before, after):
    """In percent."""
    return 100 * (before - after) / before if before else None


def tape_cases(table, nodes):
    return [(table.program, row.tapes, "page", nodes) for row in table.rows]


def print_tape_table(table, runs, nodes):
    rows = []
    for row, case in zip(table.rows, tape_cases(table, nodes)):
        rows.append([row.name + ", paper", *row.figures])
        ours = runs.figures(case)
        rows.append([row.name + ", ours", *(ours[key] if ours else "failed" for key, _ in table.columns)])
    headings = ["", *(heading for _, heading in table.columns)]
    print_table(f"Tapeworm, table {table.number}: {table.title} ({table.program}, {nodes} nodes)", headings, rows)


def print_table_2(tables, runs, nodes):
    rows, gains = [], []
    for table in tables:
        cases = tape_cases(table, nodes)
        plain, best = runs.figures(cases[0]), runs.figures(cases[-1])
        rows.append([f"{table.program}, paper", *paper.IMPROVEMENT[table.program], None])
        if not plain or not best:
            rows.append([f"{table.program}, ours"] + ["failed"] * 5)
            continue
        faster = 100 * (plain["seconds"] / best["seconds"] - 1)
        gain = {"speedup": faster, "used": best["used"]}
        gain |= {key: saved(plain[key], best[key]) for key in ("messages", "misses", "kilobytes")}
        gains.append(gain)
        rows.append([f"{table.program}, ours"] + [gain[key] for key in ("speedup", "messages", "misses", "kilobytes", "used")])

    def mean(key):
        known = [gain[key] for gain in gains if gain[key] is not None]
        return statistics.mean(known) if known else None

    for name, figures in (("mean, paper", paper.MEAN), ("mean, goal", paper.GOAL)):
        rows.append([name] + [figures.get(key) for key in ("speedup", "messages", "misses", "kilobytes", "used")])
    rows.append(["mean, ours"] + [mean(key) for key in ("speedup", "messages", "misses", "kilobytes", "used")])
    headings = ["in percent", "speed-up gained", "msgs saved", "misses saved", "bytes saved", "updates used"]
    print_table(f"Tapeworm, table 2: the best tapes against none ({nodes} nodes)", headings, rows)


def region_cases(program, nodes):
    return [(program, "none", "page", 1)] + [(program, "none", unit, nodes) for unit in paper.REGION_UNITS]


def parameters(line):
    return ", ".join(f"{name} {value}" for name, value in line["parameters"].items())


def print_region_tables(programs, runs, nodes):
    times, traffic = [], []
    for program in programs:
        alone, *cases = region_cases(program, nodes)
        one, *found = [runs.figures(case) for case in (alone, *cases)]
        if not one or not all(found):
            times.append([program, "failed"] + [None] * 7)
            continue
        page, region, annotated = found
        size = parameters(runs.lines[alone][0])
        gains = [saved(page["seconds"], region["seconds"]), saved(page["seconds"], annotated["seconds"])]
        times.append([program, size, one["seconds"], *(each["seconds"] for each in found), *gains, paper.REGION_SAVED.get(program)])
        for unit, each in zip(paper.REGION_UNITS, found):
            row = [f"{program}, {unit}", each["traps"] / nodes, each["misses"], each["messages"], each["kilobytes"]]
            if unit == "page":
                row += [None, None]
            else:
                row += [saved(page[key], each[key]) for key in ("misses", "messages")]
            traffic.append(row)
    headings = ["", "size", "1 node, s", "page, s", "region, s", "annotated, s", "region saves %", "annotated %", "paper, region %"]
    print_table(f"Regions, table 7: seconds ({nodes} nodes)", headings, times)
    headings = ["", "traps of a node", "misses", "messages", "KB", "misses saved %", "messages saved %"]
    print_table(f"Regions, table 8: traffic ({nodes} nodes)", headings, traffic)
    print(paper.REGION_SENTENCES)


def main():
    options = arguments()
    runs = Runs(options)
    tables = [table for table in paper.TABLES if table.program in options.apps and "tapes" in options.tables]
    regions = [program for program in paper.REGION_PROGRAMS if program in options.apps and "regions" in options.tables]
    for table in tables:
        runs.run_all(tape_cases(table, options.nodes))
    for program in regions:
        runs.run_all(region_cases(program, options.region_nodes))
    if options.json:
        with open(options.json, "w") as file:
            for lines in runs.lines.values():
                file.writelines(json.dumps(line) + "\n" for line in lines)
    settings = [f"protocol {options.protocol}", f"sizes {options.sizes}", f"{options.rounds} rounds", options.launcher, *options.set]
    print("; ".join(settings))
    if tables:
        print_table_2(tables, runs, options.nodes)
    for table in tables:
        print_tape_table(table, runs, options.nodes)
    if regions:
        print_region_tables(regions, runs, options.region_nodes)
    if runs.failed:
        print(f"\n{len(runs.failed)} runs failed:\n" + "\n".join(runs.failed))
    return 1 if runs.failed else 0


if __name__ == "__main__":
    sys.exit(main())
