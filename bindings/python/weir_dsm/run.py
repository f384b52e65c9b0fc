"""python -m weir_dsm.run [OPTIONS] prog.py [ARGUMENTS]: prog.py on several nodes.

Options are those of weir-dsm-run (weir-dsm-run --help); without that command there is only
-n N, and mpirun starts the nodes.
"""

import os
import shutil
import sys
from pathlib import Path


def command_of_weir():
    """weir-dsm-run: in this wheel, where Weir is installed, or in the build."""
    here = Path(__file__).resolve().parent
    near = [here / "bin", *(above / "bin" for above in here.parents[:5])]
    for folder in near:
        if os.access(folder / "weir-dsm-run", os.X_OK):
            return str(folder / "weir-dsm-run")
    return shutil.which("weir-dsm-run")


def main():
    words = sys.argv[1:]
    if not words:
        sys.exit(__doc__)
    # The package that has this file is the one that the program gets.
    folder = str(Path(__file__).resolve().parent.parent)
    paths = [folder, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    command = command_of_weir()
    if command:
        os.execv(command, [command, "--interpreter", sys.executable, *words])
    count = "1"
    if words[0] in ("-n", "--nodes") and len(words) > 2:
        count, words = words[1], words[2:]
    if words[0].startswith("-"):
        sys.exit(f"weir_dsm.run: {words[0]}: there is no weir-dsm-run, so -n N is the only option")
    launcher = shutil.which("mpirun") or shutil.which("mpiexec")
    if not launcher:
        sys.exit("weir_dsm.run: there is no mpirun. Install openmpi-bin or mpich")
    os.execv(launcher, [launcher, "-n", count, sys.executable, *words])


if __name__ == "__main__":
    main()
