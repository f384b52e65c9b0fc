#!/usr/bin/env python3
"""What does --heap guard cost programs that do little but allocate?
Processor seconds and MiB of the same run, plain and guarded in turn, and the ratio of the medians.
usage: cost.py BUILD [RUNS]"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
weir = pathlib.Path(sys.argv[1]).resolve() / "bin/weir"
runs = int(sys.argv[2]) if len(sys.argv) > 2 else 7


def measured(program, heap):
    started = subprocess.Popen([weir, "run", "--order", "serial", "--heap", heap, "--", program],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    words = started.stderr.read().strip()
    _, status, used = os.wait4(started.pid, 0)
    if status:
        sys.exit(f"{program}: status {status}: {words}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, words


with tempfile.TemporaryDirectory() as folder:
    for source in sorted(here.glob("*.c*")):
        program = pathlib.Path(folder) / source.stem
        if source.suffix == ".py":
            continue
        compiler = ["g++", "-std=c++20"] if source.suffix == ".cc" else ["gcc"]
        subprocess.run([*compiler, "-O2", "-pthread", source, "-o", program], check=True)
        results = {"plain": [], "guard": []}
        for _ in range(runs):
            for heap, all_runs in results.items():
                all_runs.append(measured(program, heap))
        seconds = {heap: statistics.median(run[0] for run in all_runs) for heap, all_runs in results.items()}
        memory = {heap: max(run[1] for run in all_runs) for heap, all_runs in results.items()}
        print(f"{source.stem}: {seconds['plain']:.3f} s plain, {seconds['guard']:.3f} s guarded "
              f"({seconds['guard'] / seconds['plain']:.1f} times); {memory['plain']:.0f} and "
              f"{memory['guard']:.0f} MiB; {results['guard'][0][2].removeprefix('weir: heap: ').split(';')[0]}")
