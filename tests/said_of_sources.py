#!/usr/bin/env python3
"""Every source of a configured build compiles without a word of the compiler. Nothing is built.

usage: said_of_sources.py BUILD [TARGET ...]      TARGET: its sources are left out, as they are built otherwise
clang only reads them, for all its warnings come of that; gcc compiles them, as some of its come of optimizing.
"""
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def compilations(build, left_out):
    """Each (file, folder, command) once."""
    found = {}
    with open(f"{build}/compile_commands.json") as commands:
        for entry in json.load(commands):
            words, file = shlex.split(entry["command"]), entry["file"]
            at = words.index("-o")
            if file.endswith(".S") or any(f"/{target}.dir/" in f"/{words[at + 1]}" for target in left_out):
                continue
            is_clang = "clang" in os.path.basename(words[0])
            if is_clang and "-fopenmp" in words:
                continue  # clang's omp.h is a package of its own, of which a machine has but one
            words[at:at + 2] = [] if is_clang else ["-o", "/dev/null"]
            words = [word for word in words if word != "-g"] + (["-fsyntax-only"] if is_clang else [])
            found[tuple(words)] = (file, entry["directory"], words)
    return list(found.values())


def compile_one(compilation):
    file, folder, words = compilation
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    said = done.stdout + done.stderr
    return f"{file}: status {done.returncode}\n{said[:3000]}" if done.returncode or said.strip() else ""


def main():
    build, left_out = sys.argv[1], sys.argv[2:]
    wanted = compilations(build, left_out)
    wrong = 0
    with ThreadPoolExecutor(os.cpu_count()) as several:
        for said in several.map(compile_one, wanted):
            if said:
                wrong += 1
                print(said)
    print(f"said_of_sources: {len(wanted)} compilations, {wrong} wrong")
    return 1 if wrong or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
