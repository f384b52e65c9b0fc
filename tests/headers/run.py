#!/usr/bin/env python3
"""The public headers compile in every language that they promise, without a warning of any kind.

usage: run.py COMPILER [STANDARD ...]
COMPILER: gcc, gcc-13, clang-19, ...; clang is that of tests/clang. STANDARD: c11, gnu++14, ...; default: all

Each program of this folder uses one header. The .c programs are compiled as C and as C++. An older C++ is refused by one line that names the header.
"""
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
C = ["c11", "gnu11", "c17", "gnu17", "c2x"]
CXX = ["c++14", "gnu++14", "c++17", "gnu++17", "c++20", "c++2b"]

GCC = """-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wcast-align=strict -Wundef -Wformat=2
    -Wdouble-promotion -Wfloat-equal -Wredundant-decls -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wnull-dereference
    -Wswitch-enum -Wunused-macros -Wmissing-declarations -Wvla""".split()
GCC_C = """-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wnested-externs -Wbad-function-cast -Wc++-compat
    -Wdeclaration-after-statement -Wjump-misses-init""".split()
GCC_CXX = """-Wold-style-cast -Wuseless-cast -Wzero-as-null-pointer-constant -Woverloaded-virtual -Wnon-virtual-dtor
    -Wextra-semi -Wredundant-tags -Wcomma-subscript -Wdeprecated-copy-dtor -Wctor-dtor-privacy -Wstrict-null-sentinel""".split()
# All that clang has, but for what warns of older languages, of layout, and of pointers as such.
CLANG = """-Weverything -Wno-padded -Wno-weak-vtables -Wno-declaration-after-statement -Wno-c++98-compat -Wno-c++98-compat-pedantic""".split()
CLANG_NEWER = ["-Wno-unsafe-buffer-usage"]  # since clang 16


def compile_program(compiler, language, standard, source):
    """What the compiler says, or an empty text."""
    is_clang = "clang" in compiler
    if is_clang:
        warnings = CLANG + (["-Wno-old-style-cast", "-Wno-zero-as-null-pointer-constant"] if source.suffix == ".c" else []) + (CLANG_NEWER if knows(compiler, CLANG_NEWER[0]) else [])
    else:
        warnings = GCC + (GCC_C if language == "c" else GCC_CXX if source.suffix == ".cc" else [])
    # Optimized: some warnings come of what the compiler has seen through.
    command = [compiler, "-x", language, f"-std={standard}", "-O2", *warnings, "-Werror", "-I", ROOT / "include", "-c", source, "-o", "/dev/null"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode or done.stderr else ""


def knows(compiler, option):
    done = subprocess.run([compiler, option, "-Werror", "-x", "c", "-fsyntax-only", "/dev/null"], capture_output=True)
    return done.returncode == 0


def refused(compiler):
    """Headers that older C++ has not are refused in one line."""
    for header in sorted((ROOT / "include" / "weir").glob("*.hpp")):
        done = subprocess.run([compiler, "-std=c++11", "-x", "c++", "-I", ROOT / "include", "-fsyntax-only", "-"], input=f'#include "weir/{header.name}"\n',
                              capture_output=True, text=True)
        if done.returncode == 0 or f"weir/{header.name} needs C++14 or later" not in done.stderr:
            yield f"{header.name} in C++11: {done.stderr or 'is accepted'}"


def main():
    compiler, wanted = sys.argv[1], sys.argv[2:]
    if compiler == "clang":
        compiler = subprocess.run([HERE.parent / "clang"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    complaints, count = [], 0
    for source in sorted(HERE.glob("*.c")) + sorted(HERE.glob("*.cc")):
        for language, standards in (("c", C), ("c++", CXX)):
            if language == "c" and source.suffix == ".cc":
                continue
            for standard in standards:
                if wanted and standard not in wanted:
                    continue
                count += 1
                said = compile_program(compiler, language, standard, source)
                if said:
                    complaints.append(f"{source.name} as {standard}:\n{said}")
    if not wanted:
        complaints += refused(compiler)
    for complaint in complaints:
        print(complaint)
    print(f"headers: {count} compilations by {compiler}, {len(complaints)} wrong")
    return 1 if complaints or not count else 0


if __name__ == "__main__":
    sys.exit(main())
