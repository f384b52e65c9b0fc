#!/usr/bin/env python3
"""Programs that declare sharing policies: exactly the expected reports come, and without Weir the annotations do nothing.

usage: run.py BUILD [NAME ...]

Each program of this folder is built as a user would (-Wall -Wextra -Wpedantic -Werror; C also as C++; with gcc, and with the clang of tests/clang). What gcc has
built runs natively, must end with 0 and print "ok" last, and then runs checked, several times. What is to be reported stands where it happens, in a comment at the line's end:

    *shared = 1;  // REPORT policy forbidden access

in the order WHY FAULT CHANGE (dump.cc). `OTHER` after it and a word says at which line of the file the other side is: that which has the comment
`IS word`. A line may stand for several reports; LIBRARY after it: it is made in the C library, or in a header of C++. Of the first lines, `// options: ...` is
added to WEIR_OPTIONS; with `// compiler: weir-cc` it is that which compiles the program, with gcc behind it, and with clang.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RUNS = int(os.environ.get("RUNS", "3"))


def compile_program(compiler, source, out, *more, wrapped=None):
    environment = dict(os.environ)
    if wrapped:
        is_cxx = "++" in Path(compiler).name
        environment["WEIR_CXX" if is_cxx else "WEIR_CC"] = compiler
        compiler = wrapped / ("weir-c++" if is_cxx else "weir-cc")
    command = [compiler, "-g", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", ROOT / "include", *more, source, "-o", out, "-pthread", "-ldl"]
    subprocess.run([str(word) for word in command], check=True, env=environment)


class Source:
    def __init__(self, path):
        self.path = path
        lines = path.read_text().splitlines()
        self.options = "".join("," + line.split(":", 1)[1].strip() for line in lines[:2] if line.startswith("// options:"))
        self.is_wrapped = "// compiler: weir-cc" in lines[:2]
        self.names = {}
        self.expected = []
        for number, line in enumerate(lines, 1):
            for word in re.findall(r"\bIS (\w+)", line):
                self.names[word] = number
        for number, line in enumerate(lines, 1):
            for why, fault, change, other, library in re.findall(r"\bREPORT (\S+) (\S+) (\S+)(?: OTHER (\w+))?( LIBRARY)?", line):
                self.expected.append((None if library else number, why, fault, change, self.names[other] if other else None))
        self.expected.sort(key=str)


def line_of(source, module, offset):
    """The innermost line of the test's own source among the inlined ones there."""
    if module in ("?", "-"):
        return None
    out = subprocess.run(["addr2line", "-i", "-e", module, "0x" + offset], capture_output=True, text=True).stdout
    for line in out.splitlines():
        found = re.match(r"(.*):(\d+)", line)
        if found and Path(found.group(1)).name == source.path.name:
            return int(found.group(2))
    return None


def reports(source, text):
    found = []
    for line in text.splitlines():
        head, side, other, _ = line.split(" | ")
        why, fault, change, _count = head.split()
        kind, _task, module, offset = side.split()
        other = other.split()
        if why == "race" and "/libc.so" in module and "/libc.so" in other[2]:
            continue  # between functions of the C library: tests of inferred policies are about these
        found.append((line_of(source, module, offset), why, fault, change, line_of(source, other[2], other[3])))
    return found


def agree(expected, found):
    left = list(found)
    for want in expected:
        for have in left:
            if have[:4] == want[:4] and (want[4] is None or want[4] == have[4]):
                left.remove(have)
                break
        else:
            return False
    return not left


def run_checked(library, dump, source, program, folder):
    memory = Path(folder) / "findings"
    subprocess.run([dump, "new", memory], check=True)
    with open(memory, "r+b") as file:
        environment = dict(os.environ, LD_PRELOAD=str(library), LD_BIND_NOW="1",
                           WEIR_OPTIONS=f"order=free,view=guarded,findings={file.fileno()}{source.options}")
        done = subprocess.run([program], env=environment, pass_fds=[file.fileno()], capture_output=True, text=True, timeout=60)
    shown = subprocess.run([dump, "show", memory], capture_output=True, text=True).stdout
    memory.unlink()
    return done, shown


def main():
    build = Path(sys.argv[1]).resolve()
    wanted = sys.argv[2:]
    failed = 0
    clang = subprocess.run([ROOT / "tests" / "clang"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        dump = Path(folder) / "dump"
        subprocess.run(["g++", "-std=c++20", "-O1", "-I", ROOT / "src", HERE / "dump.cc", "-o", dump], check=True)
        programs = sorted(p for p in HERE.iterdir() if p.suffix in (".c", ".cc") and p.name != "dump.cc")
        for path in programs:
            if wanted and path.stem not in wanted:
                continue
            source = Source(path)
            is_c = path.suffix == ".c"
            program = Path(folder) / path.stem
            wrapped = build / "bin" if source.is_wrapped else None
            standard = "-std=gnu11" if is_c else "-std=c++17"
            compile_program("gcc" if is_c else "g++", path, program, standard, wrapped=wrapped)
            if is_c and "NOT C++" not in path.read_text():
                compile_program("g++", path, str(program) + ".cxx", "-x", "c++", "-std=c++17", wrapped=wrapped)
            compile_program(clang if is_c else clang.replace("clang", "clang++"), path, str(program) + ".clang", standard, wrapped=wrapped)
            problems = []
            native = subprocess.run([program], capture_output=True, text=True, timeout=60)
            if native.returncode or not native.stdout.endswith("ok\n"):
                problems.append(f"natively: status {native.returncode}, {native.stdout!r} {native.stderr!r}")
            for _ in range(RUNS):
                done, shown = run_checked(build / "lib" / "libweir.so", dump, source, program, folder)
                if done.returncode or not done.stdout.endswith("ok\n"):
                    problems.append(f"checked: status {done.returncode}, {done.stdout!r} {done.stderr!r}")
                found = reports(source, shown)
                if not agree(source.expected, found):
                    problems.append(f"expected {source.expected}\n    found {sorted(found, key=str)}\n{shown}")
                if problems:
                    break
            print(f"{'FAILED' if problems else 'ok':6} {path.name}: {len(source.expected)} reports")
            for problem in problems:
                print("    " + problem)
            failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
