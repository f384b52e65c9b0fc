"""Sets of cases that belong together. A preset says what is measured where the command line does not."""

import dataclasses
import os
import shutil
from typing import Callable

from . import machine, workloads
from .case import Case

DIRECT, ISOLATED = "token:direct", "token:isolated"
RECORD, REPLAY, ORDER_ONLY = "record:coherent", "replay:coherent", "record:direct"
UPLAY_STEPS = ("heap", "preemption", "pool")  # in the order of the UPLAY paper's figure 7; its private locks Weir has not
OPTIMIZATIONS = UPLAY_STEPS + ("demand", "tape", "ahead", "around", "readers", "migration", "spins", "creation", "keeping", "slices", "locks")
DRAWS = 100


@dataclasses.dataclass(frozen=True)
class Preset:
    about: str
    cases: Callable  # (build, threads, size) -> [Case]
    points: tuple = (ISOLATED,)
    threads: tuple = (2, 4, 8)
    size: str = "medium"
    pairs: int = 5
    limit: float = 120  # seconds for one run


def without(*names):
    return "-".join((RECORD,) + names)


def recorded(build, threads, size):
    """What issue 4 of the project, point 6, asks of recordings."""
    result = papers(workloads.SUITES["Phoenix"] + workloads.SUITES["PARSEC"])(build, threads, size)
    for count in threads:
        result.append(workloads.server(build, count, size, points=(RECORD, ORDER_ONLY)))
    for count in threads:
        if count > 1:
            result.append(workloads.racey(build, count, DRAWS, points=(RECORD, REPLAY)))
    return result


def papers(names):
    return lambda build, threads, size: [workloads.workload(build, name, count, size) for name in names for count in threads]


def engine(build, threads, size):
    """What single mechanisms of the engine cost. The numbers of threads and the sizes belong to the questions that the programs
    ask (their heads say which), so `threads` and `size` change nothing."""

    def case(group, name, points, *arguments, count=0, prints=False):
        return Case(
            name=name,
            group=group,
            program=os.path.join(build, "bench", name.split()[0]),
            arguments=arguments,
            threads=count,
            prints_figures=prints,
            points=points,
        )

    result = []
    for count in (2, 4, 8):
        for name in ("mutex_balanced", "producer_consumer", "barrier_phases", "mutex_imbalanced"):
            result.append(case("synchronize", name, (DIRECT,), str(count), "600", count=count))
    for count in (2, 4):
        for name in ("private_arrays", "option_prices", "matrix_multiply", "histogram_private"):
            words = ("--threads", str(count)) if name == "matrix_multiply" else (str(count),)
            result.append(case("share little", name, (ISOLATED,), *words, count=count))
    for words in (("pigz", "-p2", "-c"), ("pbzip2", "-p2", "-c"), ("xz", "-T2", "-1", "--block-size=2MiB", "-c")):
        found = shutil.which(words[0])
        if found:
            result.append(
                Case(
                    name=words[0],
                    group="share little",
                    program=found,
                    arguments=words[1:] + ("{input}",),
                    threads=2,
                    input=("words", ""),
                    points=(ISOLATED,),
                )
            )
    result.append(case("creation", "thread_creation", (ISOLATED, DIRECT), prints=True))
    result.append(case("mutex", "mutex_uncontended", (DIRECT, ISOLATED), prints=True))
    result.append(Case(name="true", group="start", program="/bin/true", points=(DIRECT, ISOLATED)))
    result.append(case("start", "one_thread", (DIRECT, ISOLATED)))
    for count in (1, 2, 4, 8):
        result.append(case("event", "event_cost", (ISOLATED,), str(count), str(40000 // count), count=count, prints=True))
    for pages in (1, 16, 256):
        words = ("2", str(pages), str(20000 // (pages + 20)))
        result.append(case("dirty pages", f"dirty_pages 2 {pages}", (ISOLATED,), *words, prints=True))
    return result


PRESETS = {
    "paper-dthreads": Preset(
        "the 14 programs of the Dthreads paper, beside its figures and Dthreads' today", papers(workloads.PAPER_DTHREADS)
    ),
    "paper-uplay": Preset(
        "recording: what the UPLAY paper measured, and more: at View coherent, replayed, the order only; a server; racey",
        recorded,
        points=(RECORD, REPLAY, ORDER_ONLY),
        threads=(1, 2, 4, 8),
        limit=60,
    ),
    "paper-uplay-figure7": Preset(
        "what each optimization of View coherent is worth: recordings without it, as the UPLAY paper's figure 7 has them",
        papers(workloads.SUITES["Phoenix"] + workloads.SUITES["PARSEC"]),
        points=(RECORD,) + tuple(without(name) for name in OPTIMIZATIONS)
        + tuple(without(*UPLAY_STEPS[first:]) for first in range(len(UPLAY_STEPS) - 1)),
        threads=(8,),
        pairs=3,
        limit=30,
    ),
    "recordings": Preset(
        "recording and replay at all three views",
        papers(workloads.SUITES["Phoenix"] + workloads.SUITES["PARSEC"]),
        points=tuple(f"{what}:{view}" for view in ("coherent", "isolated", "direct") for what in ("record", "replay")),
        threads=(4,),
        limit=60,
    ),
    "paper-push": Preset(
        "sharing policies: the ten programs of the PUSh paper with their annotations under weir check --policies=declared, by processes and, where the machine has "
        "them, by protection keys, beside its figures",
        papers(workloads.PAPER_PUSH),
        points=("annotated", "keys") if machine.has_protection_keys() else ("annotated",),
        threads=(8,),
        pairs=3,
    ),
    "checkers": Preset(
        "race checking: weir check, and gcc's ThreadSanitizer on the same programs (cmake --build ... --target tsan_workloads)",
        papers(workloads.PLAIN),
        points=("check", "tsan"),
        threads=(8,),
        pairs=3,
        limit=120,
    ),
    "pages": Preset(
        "what tracking pages by mprotect costs where there is no userfaultfd, and what keeping the program's files adds to a recording",
        papers(workloads.PAPER_DTHREADS),
        points=(ISOLATED, ISOLATED + "+mprotect", RECORD, RECORD + "+mprotect", RECORD + "+named", "check", "check+mprotect"),
        threads=(4,),
        size="small",
    ),
    "papers": Preset("every program of the papers that is built, variants too", papers(workloads.ALL)),
    "engine": Preset(
        "what single mechanisms cost: synchronization, creation, mutexes, start-up, events, dirty pages",
        engine,
        points=(DIRECT, ISOLATED),
        pairs=9,
    ),
}
