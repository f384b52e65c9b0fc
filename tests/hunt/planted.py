"""The programs of tests/hunt: what the manifest says of them, and how they are built."""
import os
import pathlib
import subprocess

# What weir hunt has to be told for programs of a class.
OPTIONS = {"store buffer": ["--memory", "tso"], "output": ["--compare-output"]}
HERE = pathlib.Path(__file__).resolve().parent


class Program:
    def __init__(self, name, kind, depth):
        self.name, self.kind, self.depth = name, kind, int(depth)
        self.options = OPTIONS.get(kind, [])
        found = [HERE / "programs" / (name + suffix) for suffix in (".c", ".cc")]
        self.source = next(path for path in found if path.exists())

    def build(self, folder, fixed=False):
        """Compiles it into `folder`, unless it is there and newer than its sources."""
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / (self.name + (".fixed" if fixed else ""))
        newest = max(path.stat().st_mtime for path in (self.source, HERE / "programs/planted.h",
                                                      HERE / "programs/fence.h"))
        if target.exists() and target.stat().st_mtime > newest:
            return target
        cxx = self.source.suffix == ".cc"
        command = [os.environ.get("CXX", "g++"), "-std=c++20"] if cxx else [os.environ.get("CC", "gcc")]
        command += ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]
        if "omp" in self.name:
            command.append("-fopenmp")
        if fixed:
            command.append("-DFIXED")
        part = target.with_name(f"{target.name}.{os.getpid()}")
        subprocess.run(command + [str(self.source), "-o", str(part)], check=True)
        part.rename(target)
        return target


def manifest():
    programs = []
    for line in (HERE / "MANIFEST").read_text().splitlines():
        if line and not line.startswith("#"):
            programs.append(Program(*(word.strip() for word in line.split("|"))))
    return programs
