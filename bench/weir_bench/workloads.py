"""The programs of the papers in bench/workloads: which suite has them and which input they read. A program that the build
does not have is left out."""

import dataclasses
import os

from .case import Case, Misuse

SUITES = {
    "Phoenix": (
        "histogram",
        "kmeans",
        "linear_regression",
        "matrix_multiply",
        "pca",
        "reverse_index",
        "string_match",
        "word_count",
    ),
    "PARSEC": ("blackscholes", "bodytrack", "canneal", "dedup", "ferret", "fluidanimate", "streamcluster", "swaptions"),
    "SPLASH": ("fft", "lu", "ocean", "radix", "barnes", "water_nsquared", "water_spatial"),
    "of PUSh": ("pfscan", "ctrace", "pbzip2", "webserver", "cache", "cache_b"),
    "variants": ("fluidanimate_adhoc", "barnes_adhoc", "pfscan_read", "ctrace_file"),
}
# Which program a variant is, with which options: what tests/CMakeLists.txt tests too.
VARIANTS = {
    "cache_b": ("cache", "--workload", "b"),
    "fluidanimate_adhoc": ("fluidanimate", "--adhoc"),
    "barnes_adhoc": ("barnes", "--adhoc"),
    "pfscan_read": ("pfscan", "--read"),
    "ctrace_file": ("ctrace", "--file"),
}
SIZES = ("small", "medium", "large")

# Kinds of bench/workloads/generate.c; the other programs make their input themselves.
INPUTS = {
    "histogram": "pixels",
    "linear_regression": "points",
    "string_match": "keys",
    "word_count": "text",
    "reverse_index": "html",
}

PAPER_DTHREADS = SUITES["Phoenix"] + ("blackscholes", "canneal", "dedup", "ferret", "streamcluster", "swaptions")
PAPER_PUSH = ("ctrace", "pfscan", "pbzip2", "fft", "streamcluster", "blackscholes", "swaptions", "ferret", "webserver", "cache", "cache_b")
PLAIN = tuple(name for names in SUITES.values() for name in names if name not in VARIANTS)
ALL = tuple(name for names in SUITES.values() for name in names)


def suite_of(name):
    return next(suite for suite, names in SUITES.items() if name in names)


SERVER = "webserver_alone"


def server(build, threads, size, points):
    """The web server alone, loaded by its clients, which run natively."""
    whole = workload(build, "webserver", threads, size)
    options = ("--size", size)
    return dataclasses.replace(
        whole,
        name=SERVER,
        group="a server that answers small requests, and waits for them",
        arguments=whole.arguments + ("--serve",),
        client=("--client", "--port", "{port}") + options,
        points=points,
    )


def racey(build, threads, draws, points):
    return Case(
        name="racey",
        group=f"different results of {draws} runs",
        program=os.path.join(build, "tests", "programs", "racey"),
        threads=threads,
        arguments=(str(threads),),
        draws=draws,
        points=points,
    )


def workload(build, name, threads, size):
    if name not in ALL:
        raise Misuse(f"no workload '{name}': weir-bench --list says which there are; a command of your own goes behind --")
    program, *own = VARIANTS.get(name, (name,))
    kind = INPUTS.get(program)
    options = ("--size", size) + (("--input", "{input}") if kind else ()) + tuple(own)
    return Case(
        name=name,
        group=suite_of(name),
        program=os.path.join(build, "bench", program),
        threads=threads,
        size=size,
        arguments=("--threads", str(threads)) + options,
        input=(kind, size) if kind else (),
        sequential=("--sequential",) + options,
    )
