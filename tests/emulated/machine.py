"""An emulated x86 machine, which has protection keys: a kernel out of a Debian package, and an initramfs with what is to be run in it."""
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KERNELS = ROOT / ".deps" / "kernels"
RELEASE = "bookworm"
EMULATOR = "qemu-system-x86_64"
# Without SMAP: QEMU 7.2 reads the stack of an iretq that a program executes as the kernel would, so the guest's kernel would see a fault of its own.
CPU = "max,-smap"
COMMANDS = ["sh", "cat", "echo", "grep", "rm", "sleep", "timeout", "env", "true", "tail", "head", "kill", "mkdir", "ls", "uname", "cmp", "cp", "sed"]


class NoMachine(Exception):
    """What the machine is made of is not there."""


def kernel_of(release):
    return KERNELS / release / "vmlinuz"


def need(release=RELEASE):
    """Raises NoMachine if something is missing, with what to do about it."""
    kernel = kernel_of(release)
    missing = [what for what, there in [(EMULATOR, shutil.which(EMULATOR)), ("cpio", shutil.which("cpio")), ("busybox", busybox()), (str(kernel), kernel.is_file())] if not there]
    if missing:
        raise NoMachine(f"missing: {', '.join(missing)}: run tests/emulated/setup {release}")


def busybox():
    """Debian's busybox-static; null where it is not there, or needs libraries."""
    found = shutil.which("busybox")
    return found if found and not libraries_of(found) else None


def libraries_of(program):
    """The loader and the shared libraries that a program needs, as the loader of this machine finds them."""
    out = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    return [Path(path) for path in re.findall(r"(?:=> |^\s*)(/\S+) \(", out.stdout, re.M)] if out.returncode == 0 else []


class Machine:
    """files: what is brought, at its own path. jobs: (name, shell command), run one after another."""

    def __init__(self, folder, release=RELEASE):
        self.folder = Path(folder)
        self.kernel = kernel_of(release)
        self.tree = self.folder / "root"
        self.jobs = []
        self.seconds = {}  # of each job that has ended
        self.brought = set()
        (self.tree / "bin").mkdir(parents=True)
        shutil.copy(busybox(), self.tree / "bin" / "busybox")
        for command in COMMANDS:
            (self.tree / "bin" / command).symlink_to("busybox")
        shutil.copy(HERE / "init", self.tree / "init")
        os.chmod(self.tree / "init", 0o755)

    def bring(self, path):
        path = Path(path)
        if path in self.brought:
            return
        self.brought.add(path)
        target = self.tree / path.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
        for library in libraries_of(path):
            self.bring(library)

    def add(self, name, command):
        self.jobs.append((name, command))

    def image(self):
        lines = []
        for number, (name, command) in enumerate(self.jobs):
            lines += ["read begun rest </proc/uptime", f'echo "@@ job {number}"', f"( {command} ) </dev/null 2>&1; status=$?", "read ended rest </proc/uptime",
                      f'echo; echo "@@ status {number} $status $begun $ended"']
        (self.tree / "jobs").write_text("\n".join(lines) + "\n")
        names = "\n".join(str(path.relative_to(self.tree)) for path in sorted(self.tree.rglob("*")))
        packed = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"], input=names.encode(), stdout=subprocess.PIPE, cwd=self.tree, check=True).stdout
        image = self.folder / "initrd.gz"
        with gzip.open(image, "wb", compresslevel=1) as file:
            file.write(packed)
        return image

    def run(self, limit, quiet=300):
        """Runs all jobs: {name: (status, output)}, and what the console said; what is missing has not ended. `quiet`: seconds without a word after which the machine
        counts as dead. On a crowded machine the emulated kernel may find its clock wrong and give up: where it has not come to the first job it is started again."""
        image = self.image()
        for tries in range(3):
            text = self.start(image, limit, quiet)
            if "@@ begin" in text:
                break
            print(f"the machine did not start ({text[-200:].strip()!r})", flush=True)
        results = {}
        for match in re.finditer(r"@@ job (\d+)\n(.*?)\n@@ status \1 (\d+) ([\d.]+) ([\d.]+)\n", text, re.S):
            name = self.jobs[int(match.group(1))][0]
            results[name] = (int(match.group(3)), match.group(2).removesuffix("\n"))
            self.seconds[name] = float(match.group(5)) - float(match.group(4))
        return results, text

    def start(self, image, limit, quiet):
        command = [EMULATOR, "-accel", "tcg,thread=multi", "-cpu", CPU, "-smp", "2", "-m", "1536", "-kernel", str(self.kernel), "-initrd", str(image),
                   "-append", "console=ttyS0 quiet loglevel=1 panic=-1 no_timer_check rdinit=/init", "-display", "none", "-serial", "stdio", "-monitor", "none", "-no-reboot", "-nodefaults"]
        log = self.folder / "console"
        with open(log, "wb") as out:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
            started, size, since = time.monotonic(), 0, time.monotonic()
            while child.poll() is None:
                time.sleep(0.1)
                now = time.monotonic()
                if log.stat().st_size != size:
                    size, since = log.stat().st_size, now
                if now - started > limit or now - since > quiet:
                    child.kill()
            child.wait()
        return log.read_text(errors="replace").replace("\r\n", "\n")


def has_keys():
    """Whether this machine itself has protection keys, and its kernel uses them."""
    return bool(re.search(r"\bospke\b", Path("/proc/cpuinfo").read_text()))


class Here:
    """The same for this machine, which has protection keys. Of /tmp the jobs use a folder of their own."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.jobs = []
        self.seconds = {}

    def bring(self, path):
        pass

    def add(self, name, command):
        self.jobs.append((name, re.sub(r"/tmp/(found|shown|cache)", rf"{self.folder}/\1", command)))

    def run(self, limit):
        results = {}
        for name, command in self.jobs:
            begun = time.monotonic()
            done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=limit)
            results[name] = (done.returncode, done.stdout.removesuffix("\n"))
            self.seconds[name] = time.monotonic() - begun
        return results, "@@ end"


def folder():
    """A place for the machine's files; in memory where there is room for them."""
    return tempfile.TemporaryDirectory(prefix="weir-emulated-")


def exit_with(main):
    """Ends the test with what `main` answers; with 2 if there is no such machine."""
    try:
        sys.exit(main())
    except NoMachine as missing:
        print(f"cannot emulate a machine: {missing}", file=sys.stderr)
        sys.exit(2)
