#!/usr/bin/env python3
"""The rules of src/LAYERS, each a test.

usage: layering.py RULE [BUILD]
    RULE: include apart only nowhere registers lines columns headers needed docs map comments
          cycles sources beside invariants
"""
import fnmatch
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
CODE = {".h", ".cc", ".S"}


def rules(word):
    """The lines of src/LAYERS that begin with `word`, without it."""
    found = []
    for line in (SOURCE / "LAYERS").read_text().splitlines():
        if re.match(rf"{word}\b", line):
            found.append(line[len(word):].strip())
    return found


def files(*suffixes):
    return sorted(p for p in SOURCE.rglob("*") if p.suffix in (suffixes or CODE))


def name(path):
    return path.relative_to(SOURCE).as_posix()


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
        if found:
            yield number, found.group(1)


def without_comments(text):
    """Blanks comments out; keeps strings and line numbers."""
    pattern = r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/'
    blank = lambda m: m.group(0) if m.group(0)[0] == '"' else re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(pattern, blank, text, flags=re.S)


def matches(path, patterns):
    return any(path.startswith(p) if p.endswith("/") else fnmatch.fnmatch(path, p) for p in patterns)


def folder_of(file, folders):
    """The innermost of `folders` that `file` lies in, or None."""
    inside = [folder for folder in folders if file.startswith(folder + "/")]
    return max(inside, key=len, default=None)


def check_include():
    """Includes go up in src/LAYERS."""
    layer = {folder: number for number, line in enumerate(rules("layer"))
             for folder in line.split()}
    pairs = lambda word: {left.strip(): right.split()
                          for left, right in (line.split(":") for line in rules(word))}
    programs = pairs("include")
    folders = {*layer, *programs}
    for path in files():
        file = name(path)
        if path.name.endswith("_test.cc"):
            continue
        folder = folder_of(file, folders)
        if folder is None:
            yield f"{file}: its folder has no rule"
            continue
        for number, header in includes(path):
            if "/" not in header:
                yield f"{file}:{number}: \"{header}\" does not name its folder"
            elif not (SOURCE / header).is_file():
                continue
            elif folder in programs:
                known = [folder, *programs[folder]]
                if header not in known and not any(header.startswith(k + "/") for k in known):
                    yield f"{file}:{number}: {folder} may not include {header}"
            elif layer.get(folder_of(header, folders), len(layer)) > layer[folder]:
                yield f"{file}:{number}: {folder} may not include {header}"


def folders_of_library():
    """{folder: folders that its files include from}, of libweir.so; test files do not count."""
    folders = {folder for line in rules("layer") for folder in line.split()}
    known = {folder: set() for folder in folders}
    for path in files():
        folder = folder_of(name(path), folders)
        if folder is None or path.name.endswith("_test.cc") or path.name.startswith("test_"):
            continue
        for _, header in includes(path):
            other = folder_of(header, folders)
            if other not in (None, folder):
                known[folder].add(other)
    return known


def folders_by_names(count):
    """The same of all of src/, where a folder is its first names, at most `count` of them. Files
    that lie beside subfolders are a folder too; headers for tests count as all headers do."""
    folder = lambda file: "/".join(file.split("/")[:-1][:count])
    known = {}
    for path in files():
        if not path.name.endswith("_test.cc"):
            known.setdefault(folder(name(path)), set()).update(
                folder(header) for _, header in includes(path) if (SOURCE / header).is_file())
    return {own: others - {own} for own, others in known.items()}


def check_cycles():
    """No folders include each other, round about: those of src/LAYERS, the folders that lie in
    src/, and these taken apart into those that lie in them."""
    for known in (folders_of_library(), folders_by_names(1), folders_by_names(2)):
        yield from cycles_of(known)


def cycles_of(known):
    def reached(start):
        found, left = set(), [start]
        while left:
            for folder in known.get(left.pop(), set()) - found:
                found.add(folder)
                left.append(folder)
        return found

    reach = {folder: reached(folder) for folder in known}
    cycles = {frozenset({folder} | {other for other in reach[folder] if folder in reach[other]})
              for folder in known if folder in reach[folder]}
    for cycle in sorted(map(sorted, cycles)):
        yield f"folders include each other: {' '.join(cycle)}"


def check_sources():
    limit = int(rules("sources")[0])
    count = {}
    for path in files(*CODE, ".c"):
        if not re.search(r"_test\.(cc|h)$", path.name):
            count.setdefault(path.parent, []).append(path)
    for folder, sources in sorted(count.items()):
        if len(sources) > limit:
            yield f"{name(folder)} has {len(sources)} sources, more than {limit}: it needs subfolders"


def declared(text):
    """(class or "", name) of each function that a header declares and does not define."""
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", without_comments(text), flags=re.M)
    text = re.sub(r"\[\[.*?\]\]|__attribute__\(\(.*?\)\)|\b(?:public|private|protected):", "", text)
    other = r"\b(?:using|typedef|static_assert|inline|constexpr|friend|operator|alignas|decltype|__asm__)\b"
    scopes, statement = [], ""  # a scope: its class, "" for a namespace, None for all else
    for token in re.findall(r'"(?:\\.|[^"\\\n])*"|[{};]|[^{};"]+', text):
        scope = scopes[-1] if scopes else ""
        if token == "{":
            opened = re.search(r"(?:\bnamespace\b|\bextern\b|\b(?:class|struct|union)\s+(?:\w+::)*(\w+))[^()]*$", statement)
            scopes.append(opened.group(1) or "" if opened and scope is not None else None)
        elif token == "}":
            scopes.pop()
        elif token == ";" and scope is not None:
            found = re.match(r"[^(=]*?(\w+)\s*\((?!\s*[*&])", statement)
            if found and not re.search(other, statement.split("(")[0]) and not re.search(
                    r"~\s*\w+\s*\(|=\s*(?:delete|default|0)\s*$", statement) and not found.group(1).isupper() and found.group(1) not in ("void", "bool"):
                yield scope, found.group(1)
        statement = "" if token in "{};" else statement + token


def defines(text, scope, function):
    """A definition begins at the start of a line, and no `;` comes before its body."""
    if re.search(rf"^\s*\.globl\s.*\b{function}\b", text, re.M):
        return True
    whole = rf"{scope}(?:<\w+>)?::{function}" if scope else function
    return any(re.match(r"[^;]*?(?:\{|= default;)", text[found.end():])
               for found in re.finditer(rf"^(?![#}} ]).*?(?<![\w~]){whole}\(", text, re.M))


def check_beside():
    """A header's functions are defined in sources of its name, or its first comment says where:
    "Implemented in FILE, FILE and FILE." A name without `/` lies beside the header; one that ends
    in `/` stands for all sources of that folder."""
    stem = lambda path: re.sub(r"(_vector)?(_x86_64)?$", "", path.stem)
    sources = files(".cc", ".S", ".c")
    texts = {path: without_comments(path.read_text()) for path in [*sources, *files(".h")]}
    for path in files(".h"):
        if path.name.startswith("test_") or path.name.endswith("_test.h"):
            continue
        text = path.read_text()
        comment = " ".join(line[2:].strip() for line in text.split("#pragma once")[0].splitlines())
        own = [path, *(source for source in sources if source.parent == path.parent and stem(source) == stem(path))]
        said = re.search(r"Implemented in ((?:[\w./]+(?:, | and ))*[\w./]+?)\.(?:\s|$)", comment)
        for place in re.split(r", | and ", said.group(1)) if said else ():
            place = SOURCE / place if "/" in place else path.parent / place
            found = [source for source in sources if source == place or place.is_dir() and source.is_relative_to(place)]
            if not found:
                yield f"{name(path)}: {place.relative_to(SOURCE)} has no sources"
            own += found
        missing = [function for scope, function in declared(text)
                   if not any(defines(texts[source], scope, function) for source in own)]
        if missing:
            yield f"{name(path)} does not say where it is implemented: {' '.join(missing)}"


def check_apart():
    for rule in rules("apart"):
        one, other = rule.split()
        for path in files():
            for number, header in includes(path):
                for folder, forbidden in ((one, other), (other, one)):
                    if name(path).startswith(folder + "/") and header.startswith(forbidden + "/"):
                        yield f"{name(path)}:{number}: must not know {header}"


def check_only():
    for rule in rules("only"):
        where, pattern = rule.split(": ", 1)
        for path in files():
            if matches(name(path), where.split()) or path.name.endswith("_test.cc"):
                continue
            for number, line in enumerate(without_comments(path.read_text()).splitlines(), 1):
                if re.search(pattern, line):
                    yield f"{name(path)}:{number}: '{pattern}' belongs in {where}"


def objects_of_library(build):
    """(folder, object files) of libweir.so: those whose source is there. Builds keep others."""
    folder = build / "src/CMakeFiles/weir_preload.dir"
    return folder, [file for file in sorted(folder.rglob("*.o"))
                    if (SOURCE / file.relative_to(folder).with_suffix("")).is_file()]


def check_nowhere(build):
    folder, objects = objects_of_library(build)
    if not objects:
        yield f"no objects in {folder}"
        return
    patterns = [(exempt.split(), re.compile(pattern.strip())) for exempt, pattern in (rule.split(":", 1) for rule in rules("nowhere"))]
    needed = subprocess.run(["nm", "-uA", *objects], capture_output=True, text=True, check=True).stdout
    for line in needed.splitlines():  # FILE: U SYMBOL
        file, symbol = line.rsplit(":", 1)[0], line.split()[-1]
        inside = Path(file).relative_to(folder).as_posix()
        for exempt, pattern in patterns:
            if pattern.search(symbol) and not matches(inside, exempt):
                yield f"{inside} needs {symbol}"


def check_registers(build):
    folder, objects = objects_of_library(build)
    by_hand = [pattern for rule in rules("registers") for pattern in rule.split()]
    if not objects:
        yield f"no objects in {folder}"
    for object_file in objects:
        inside = object_file.relative_to(folder).as_posix()
        # Those of interpose/ are entered by calls, whose callers save the registers.
        is_vector = inside.endswith("_vector_x86_64.cc.o")
        if matches(inside, by_hand) or (is_vector and inside.startswith("interpose/")):
            continue
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", object_file], capture_output=True, text=True, check=True).stdout
        if is_vector:  # what others call may save and load them; what is local uses them
            symbols = subprocess.run(["nm", object_file], capture_output=True, text=True, check=True).stdout
            called = set(re.findall(r"^\S+ [TW] (\S+)$", symbols, re.M))
            parts = re.split(r"^[0-9a-f]+ <(\S+)>:$", code, flags=re.M)[1:]
            code = "".join(body for function, body in zip(parts[::2], parts[1::2]) if function in called)
            code = re.sub(r"^.*\tmov(?:dqa|aps) .*$", "", code, flags=re.M)
        found = re.search(r"^.*%(?:[xyz]?mm\d|st\b|k[0-7]\b).*$", code, re.M)
        if found:
            yield f"{inside}: {' '.join(found.group(0).split())}"


def check_lines():
    limit = int(rules("lines")[0])
    for folder in ("src", "include", "tests", "bench", "fuzz", "tools", "cmake"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix not in CODE | {".c", ".py", ".sh", ".cmake", ".txt", ".hpp", ""} or not path.is_file():
                continue
            if path.read_bytes().count(b"\n") > limit:
                yield f"{path.relative_to(ROOT)} has more than {limit} lines"


def check_columns():
    """Lines of C, C++ and assembly; a character counts as one column."""
    limit = int(rules("columns")[0])
    # Their reports are told by a word at the end of the line (tools/format).
    marked = [ROOT / "tests" / folder for folder in ("declared", "mpk", "races")]
    for folder in ("src", "include", "tests", "bench", "fuzz"):
        for path in (ROOT / folder).rglob("*"):
            if any(path.is_relative_to(folder) for folder in marked):
                continue
            if path.suffix in CODE | {".c", ".hpp"} and path.is_file():
                for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                    if len(line) > limit:
                        yield f"{path.relative_to(ROOT)}:{number} has {len(line)} columns"


def check_headers():
    """Each header compiles alone. Those that a source includes before all else have shown it when that was built."""
    shown = {found.group(1) for path in files(".cc") if (found := re.search(r"^\s*#\s*include\s*(\S+)", path.read_text(), re.M))}
    base = ["g++", "-std=gnu++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE",
            "-DZYAN_NO_LIBC", "-DZYDIS_STATIC_BUILD", "-DZYCORE_STATIC_BUILD", "-DZYDIS_DISABLE_FORMATTER",
            "-DZYDIS_DISABLE_ENCODER", f"-I{SOURCE}", f"-I{ROOT / 'include'}", "-x", "c++", "-"]
    injected = ["-fno-exceptions", "-fno-rtti", "-mgeneral-regs-only"]
    for zydis in (ROOT / ".deps").glob("zydis-*/include"):
        base[1:1] = ["-isystem", str(zydis)]
    for path in files(".h"):
        if f'"{name(path)}"' in shown:
            continue
        flags = [] if name(path).startswith(("cli/", "recording/")) else injected
        run = subprocess.run(base[:1] + flags + base[1:], input=f'#include "{name(path)}"\n', capture_output=True, text=True)
        if run.returncode:
            yield f"{name(path)} does not compile alone:\n{run.stderr}"


def check_needed(build):
    """libweir.so needs libc.so.6, of any release, and nothing else, runs first, and has no executable stack and no text relocations."""
    library = build / "lib/libweir.so"
    dynamic = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    if needed != ["libc.so.6"]:
        yield f"libweir.so needs {needed}"
    for flag in ("NOW", "INITFIRST"):
        if not re.search(rf"FLAGS_1.*\b{flag}\b", dynamic):
            yield f"libweir.so is not linked with {flag}"
    symbols = subprocess.run(["readelf", "-VW", library], capture_output=True, text=True, check=True).stdout
    newest = max(int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", symbols))
    if newest > 16:
        yield f"libweir.so needs glibc 2.{newest}: built on one release, it would not run on all that it knows"
    if "TEXTREL" in dynamic:
        yield "libweir.so has text relocations"
    segments = subprocess.run(["readelf", "-lW", library], capture_output=True, text=True, check=True).stdout
    if not re.search(r"GNU_STACK.* RW ", segments):
        yield "libweir.so asks for an executable stack"
    if re.search(r"^\s+TLS ", segments, re.M):
        yield "libweir.so has thread-locals: they would lie in memory of the program"


def check_docs():
    """Every path that the documents name in backquotes exists."""
    folders = "src|include|tests|bench|fuzz|docs|tools|cmake|demo|check"
    for document in [ROOT / "README.md", SOURCE / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("tests/**/*.md"))]:
        for number, line in enumerate(document.read_text().splitlines(), 1):
            here = [] if document.parent == SOURCE else re.findall(rf"`(?:\./)?((?:{folders})(?:/[\w./*-]*)?)`", line)
            for path in here:  # in src/README.md names begin at src, and check_map looks at them
                if not list(ROOT.glob(path.rstrip("/"))):
                    yield f"{document.relative_to(ROOT)}:{number}: {path} does not exist"
            for path in re.findall(r"\]\((?!\w+:)([^)#]+)", line):
                if not (document.parent / path).exists():
                    yield f"{document.relative_to(ROOT)}:{number}: link to {path}, which does not exist"


def check_map():
    """src/README.md names each source, and nothing else."""
    without = lambda file: re.sub(r"(_vector)?(_x86_64)?\.\w+$", "", file)
    text = (SOURCE / "README.md").read_text()
    named = set()
    for section in re.split(r"^### ", text, flags=re.M)[1:]:
        folder = re.match(r"`(.*)`", section).group(1)
        for row in re.findall(r"^\| (`.*?) \|", section, re.M):
            for file in re.findall(r"`([^`]+)`", row):
                file = file if "/" in file else f"{folder}/{file}"
                named.add(without(file))
                if not (SOURCE / file).is_file():
                    yield f"src/README.md names {file}, which does not exist"
    for path in files(*CODE, ".c"):
        if not re.search(r"_test\.(cc|h)$", path.name) and without(name(path)) not in named:
            yield f"src/README.md has no line for {name(path)}"


def check_comments():
    """Every file of src/ that a comment names exists."""
    folders = "|".join(sorted(folder.name for folder in SOURCE.iterdir() if folder.is_dir()))
    path_in_comment = re.compile(rf"(?<![\w./-])(?:src/)?((?:{folders})/[\w/]+\.(?:h|cc|S))\b")
    bare_name = re.compile(r"(?<![\w./*-])([a-z]\w*\.(?:h|cc|S))\b(?!/)")
    names = {path.name for folder in ("src", "include", "tests", "bench", "fuzz")
             for path in (ROOT / folder).rglob("*")}
    for path in files():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            comment = line.split("//", 1)[1] if "//" in line else ""
            for file in path_in_comment.findall(comment):
                if not (SOURCE / file).is_file():
                    yield f"{name(path)}:{number}: {file} does not exist"
            for file in bare_name.findall(comment):
                if file not in names and "_test." not in path.name:
                    yield f"{name(path)}:{number}: {file} does not exist"


def check_invariants():
    """Each invariant names its check, or says why there is none; the list of them is fresh."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("map", str(ROOT / "tools/map"))
    tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("map", loader))
    loader.exec_module(tool)
    yield from tool.complaints()
    if not tool.DOCUMENT.is_file() or tool.DOCUMENT.read_text() != tool.document()[0]:
        yield f"{tool.DOCUMENT.relative_to(ROOT)} is stale: run tools/map"


def main():
    rule = sys.argv[1]
    check = globals()[f"check_{rule}"]
    broken = list(check(Path(sys.argv[2])) if rule in ("nowhere", "registers", "needed") else check())
    for complaint in broken:
        print(complaint)
    print(f"{rule}: {len(broken)} violations")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
