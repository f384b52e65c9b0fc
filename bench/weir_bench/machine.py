"""On what it was measured."""

import os
import platform
import shutil
import subprocess
import time

from . import data


def has_protection_keys():
    """Whether the processor has them and its kernel uses them."""
    with open("/proc/cpuinfo") as file:
        return "ospke" in file.read().split()


def describe(build):
    model = ""
    try:
        with open("/proc/cpuinfo") as file:
            model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        pass
    commit = ""
    if data.version():  # installed: what lies around it is no repository of Weir
        commit = data.version()
    elif shutil.which("git"):
        ask = ["git", "-C", os.path.dirname(os.path.abspath(__file__)), "describe", "--always", "--dirty"]
        commit = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "processor": model,
        "processors": len(os.sched_getaffinity(0)),
        "processors_of_machine": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"Linux {platform.release()}",
        "load_before": os.getloadavg()[0],
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "commit": commit,
        "build": build,
    }


def sentence(machine):
    few = machine["processors"] < machine["processors_of_machine"]
    pinned = f" of {machine['processors_of_machine']}" if few else ""
    return (
        f"{machine['processors']}{pinned} processors ({machine['processor'] or 'unknown'}), "
        f"{machine['memory_bytes'] / 2**30:.0f} GiB, {machine['system']}, {machine['date']}, commit {machine['commit'] or 'unknown'}"
    )
