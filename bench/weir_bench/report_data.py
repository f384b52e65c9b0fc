"""The figures for other programs: JSON with every sample, CSV with one line a ratio."""

import csv
import dataclasses
import json

from . import data, verdict
from .case import BASE

FORMAT = 1
CSV_HEAD = (
    "program",
    "group",
    "threads",
    "size",
    "column",
    "metric",
    "state",
    "native",
    "value",
    "ratio",
    "p25",
    "p75",
    "rounds",
    "message",
    "against",
)


def reports_on(case):
    found = []
    for table in data.papers():
        value, threads = data.reported(table, case)
        if value is not None:
            found.append({"table": table["key"], "value": value, "threads": threads})
    return found


def as_json(results, about):
    """`about`: machine and options."""
    return {
        "format": FORMAT,
        **about,
        "cases": [
            {
                "program": r.case.name,
                "group": r.case.group,
                "threads": r.case.threads,
                "size": r.case.size,
                "failure": r.failure,
                "sequential_seconds": r.sequential,
                "counters": r.counters and dataclasses.asdict(r.counters),
                "reported": reports_on(r.case),
                "columns": [
                    {
                        "name": name,
                        "command": cell.command,
                        "state": cell.state,
                        "message": cell.message,
                        "against": cell.base,
                        "samples": cell.samples,
                        "median": {metric: cell.median(metric) for metric in cell.samples} if cell.ok else {},
                        "ratio": {m: dict(zip(("p25", "median", "p75"), ratio)) for m, ratio in cell.ratios.items()},
                    }
                    for name, cell in r.cells.items()
                ],
            }
            for r in results
        ],
        "means": [dataclasses.asdict(mean) for mean in verdict.means(results)],
        "targets": [{**dataclasses.asdict(v), "met": v.met} for v in verdict.verdicts(results, about.get("preset"))],
        "tables": data.papers(),
    }


def write_json(path, results, about):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(as_json(results, about), file, indent=1, ensure_ascii=False)
        file.write("\n")


def rows(results):
    for r in results:
        head = [r.case.name, r.case.group, r.case.threads or "", r.case.size]
        if r.failure:
            yield head + ["", "", "no figures"] + [""] * 6 + [r.failure, ""]
            continue
        for name, cell in r.cells.items():
            if name == BASE:
                continue
            if not cell.ok:
                yield head + [name, "", cell.state] + [""] * 6 + [cell.message, cell.base]
            for metric, (low, middle, high) in cell.ratios.items():
                yield head + [
                    name,
                    metric,
                    cell.state,
                    r.cells[cell.base].median(metric),
                    cell.median(metric),
                    middle,
                    low,
                    high,
                    len(cell.samples[metric]),
                    "",
                    cell.base,
                ]


def write_csv(path, results):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(CSV_HEAD)
        writer.writerows(rows(results))
