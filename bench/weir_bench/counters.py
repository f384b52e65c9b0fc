"""What the runtime counted in one run (weir --stat-json; docs/guide/stat.md says what it means), in the terms of the
Dthreads paper."""

import dataclasses
import json
import os

VERSION = 1
FLOOR = {  # in milliseconds: name, and key in the file
    "own code": "own_code",
    "floor": "floor",
    "side by side": "floor_side_by_side",
    "in turn": "floor_code_in_turn",
    "beside": "floor_code_in_turn_beside",
    "events": "floor_events",
    "unkept": "floor_without_kept_turns",
    "unfenced": "floor_without_fences",
    "no fence": "floor_in_turns",
    "waits": "floor_by_waits",
}
PHASES = ("program", "section", "scanning", "waiting", "publishing", "turn", "resuming", "blocked", "outside")


@dataclasses.dataclass
class Counters:
    serial_percent: float  # share of the time since the first thread in which somebody had the turn
    transactions: int
    length_ms: float  # time of the program / transactions: what the paper calls their length
    program_ms: float  # program code in a transaction, on average
    dirty_pages: int  # written in transactions, counted for each of them
    faults: int  # of these, those that the kernel copied when they were written
    hit_percent: float  # of these, those that had been copied in advance
    accuracy_percent: float  # of the pages copied in advance, those that were written
    phases: dict  # share of all tasks' time, in percent
    floor: dict  # what the run would take at least, with a processor for each task, in milliseconds


def part(count, whole, scale=1.0):
    return scale * count / whole if whole else None


def from_json(counted, wall):
    """`wall`: seconds of the run as seen from outside."""
    if counted["version"] != VERSION:
        raise ValueError(f"counters of version {counted['version']}; this weir-bench knows {VERSION}")
    total, percent = counted["total"], lambda rate: None if rate is None else 100 * rate
    spent = {phase: total[phase + "_seconds"] for phase in PHASES}
    return Counters(
        percent(counted["serial_share"]),
        counted["transactions"],
        part(wall, counted["transactions"], 1000),
        None if counted["transaction_seconds"] is None else 1000 * counted["transaction_seconds"],
        counted["dirtied_pages"],
        total["copies"],
        percent(counted["hit_rate"]),
        percent(counted["accuracy"]),
        {phase: part(time, sum(spent.values()), 100) for phase, time in spent.items()},
        {name: 1000 * counted[f"{key}_seconds"] for name, key in FLOOR.items()},
    )


def take(case, path, weir, point, bench, run):
    """One more run of the case at `point`, counted: (Counters, "") or (None, why)."""
    order, _, view = point.partition(":")
    file = os.path.join(bench.folder, "counters.json")
    command = [weir, "run", "--order", order, "--view", view, "--stat-json", file, "--"] + case.command(path)
    done = run(command, bench.limit, bench.folder)
    try:
        if done.state != "ok":
            return None, f"{done.state}: {done.message}"
        with open(file) as text:
            return from_json(json.load(text), done.wall), ""
    except (OSError, ValueError, KeyError) as error:
        return None, f"no counters: {error!r}"
