"""The workloads as ThreadSanitizer wants them: made when they are asked for and not there."""

import os
import shutil
import subprocess
import sys

TARGETS = "tsan_"


def missing(build, names):
    """Those of the workloads that are not in BUILD/bench/tsan."""
    return [name for name in names if not os.access(os.path.join(build, "bench", "tsan", name), os.X_OK)]


def make(build, names):
    """Makes what is missing, with the build's own compiler. Returns None, or one line that says why there is none and what to do."""
    lacking = missing(build, names)
    if not lacking:
        return None
    targets = [TARGETS + name for name in lacking]
    if not os.path.exists(os.path.join(build, "CMakeCache.txt")) or not shutil.which("cmake"):
        return f"{build} has no programs for ThreadSanitizer and is no build of CMake's: give --build, or leave tsan out (--points check)"
    print(f"weir-bench: making {len(lacking)} programs for ThreadSanitizer in {build}/bench/tsan", file=sys.stderr)
    done = subprocess.run(["cmake", "--build", build, "--target", *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 0 and not missing(build, names):
        return None
    return f"the programs for ThreadSanitizer cannot be made: see cmake --build {build} --target tsan_workloads; or leave tsan out (--points check)"
