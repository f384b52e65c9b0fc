"""What is asked of Weir in a container: what `weir doctor` says of each command is what it does."""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "COMPATIBILITY.md"
LIMIT = 60
COMMANDS = ("det", "check", "record", "replay")
WORDS = {"works": "yes", "differs": "yes, but", "refused": "refused"}


class Box:
    """Where Weir runs. Subclasses say how (`command`), and which `user` the table names."""
    text = user = ""

    def __init__(self, build, work):
        """Copies what runs into the folder `work`, which all users may enter."""
        self.work = work
        for part in ("bin", "lib", "home", "programs"):
            (work / part).mkdir()
        shutil.copy(f"{build}/bin/weir", work / "bin")
        shutil.copy(f"{build}/lib/libweir.so", work / "lib")
        for one in ("racey", "create_join"):
            shutil.copy(f"{build}/tests/programs/{one}", work / "programs")
        for one in (work, work / "home"):
            one.chmod(0o777)

    def command(self, words):
        """What starts `weir` with these words there."""
        raise NotImplementedError

    def run(self, *words):
        return subprocess.run(self.command(words), cwd=self.work / "home", capture_output=True,
                              text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)

    def doctor(self):
        done = self.run("doctor", "--json")
        said = {one["command"]: one for one in json.loads(done.stdout)["commands"]}
        works = all(one["verdict"] != "refused" for one in said.values())
        expect(done.returncode == (0 if works else 1), f"doctor: status {done.returncode}")
        plain = self.run("doctor").stdout
        for one in said.values():
            line = next(line for line in plain.splitlines() if line.startswith(one["command"] + ":"))
            expect(("does not work" in line) == (one["verdict"] == "refused"), f"doctor: {line}")
        return said


failures = []


def expect(holds, words):
    if not holds:
        failures.append(words)
        print("FAILED:", words)


def lines_of(done):
    return [line for line in done.stderr.splitlines() if line.startswith("weir:")]


def must_refuse(done, verdict):
    expect(done.returncode == 125, f"{verdict['command']}: status {done.returncode}, not 125: {done.stderr}")
    for lack in verdict["refused"]:
        expect(lack["what"] in done.stderr and lack["mend"] in done.stderr and
               f"cause: {lack['cause']}" in done.stderr,
               f"{verdict['command']}: its words are not doctor's: {done.stderr}")
    instead = verdict["instead"]
    expect(not instead or instead in done.stderr, f"{verdict['command']}: does not say {instead}")


def programs_of(box):
    place = box.work / "programs"
    return [[str(place / "racey"), "4"], [str(place / "create_join"), "4"],
            ["/bin/sh", "-c", f"{place}/racey 2; /bin/echo done; exec {place}/create_join 2"]]


def try_all(box, said):
    for program in programs_of(box):
        det, check, record, replay = (said[name] for name in COMMANDS)
        recording = str(box.work / "home" / "recording")
        if det["verdict"] == "refused":
            must_refuse(box.run("det", "--", *program), det)
            if det["instead"]:
                done = box.run(*det["instead"].split()[1:], "--", *program)
                expect(done.returncode == 0, f"{det['instead']}: {done.stderr}")
        else:
            runs = [box.run("det", "--fingerprint", "--", *program) for _ in range(3)]
            expect(all(one.returncode == 0 for one in runs), f"det {program}: {runs[0].stderr}")
            expect(len({one.stdout for one in runs}) == 1, f"det {program}: outputs differ")
            if det["verdict"] == "works" and program[0] != "/bin/sh":
                expect(len({one.stderr for one in runs}) == 1,
                       f"det {program}: {[one.stderr for one in runs]}")
            for lack in det["differs"]:
                expect(lack["what"] in runs[0].stderr, f"det does not say {lack['what']}")
        done = box.run("check", "--quiet", "--", *program)
        if check["verdict"] == "refused":
            must_refuse(done, check)
        else:
            expect(done.returncode in (0, 66), f"check {program}: {done.returncode} {done.stderr}")
        done = box.run("record", "--quiet", "-o", recording, "--", *program)
        if record["verdict"] == "refused":
            must_refuse(done, record)
            continue
        expect(done.returncode == 0 and not lines_of(done), f"record {program}: {done.stderr}")
        made = [one for one in replay["differs"] if "executed files" in one["what"]]
        for _ in range(2):
            again = box.run("replay", recording)
            if made and program[0] == "/bin/sh":  # the programs' copies are not of the system
                must_refuse(again, {**replay, "refused": made})
                continue
            expect(again.returncode == 0 and again.stdout == done.stdout,
                   f"replay {program}: {again.returncode} {again.stderr}")
        shutil.rmtree(recording, ignore_errors=True)
        expect((replay["verdict"] == "refused") == (record["verdict"] == "refused"),
               "replay and record are judged differently")


def row_of(box, said):
    def cell(verdict):
        word = WORDS[verdict["verdict"]]
        pages = [one for one in verdict["means"] if one == "pages: mprotect"]
        addresses = [one for one in verdict["means"] if one == "addresses: fixed by Weir"]
        how = ["slower"] * bool(pages) + ["own addresses"] * bool(addresses)
        return word + (f" ({', '.join(how)})" if how else "")
    cells = [cell(said[one]) for one in COMMANDS]
    return "| " + " | ".join([box.text, box.user, *cells]) + " |"


def has_all_of_kernel():
    return tuple(int(one) for one in platform.release().split(".")[:2]) >= (6, 7) and os.geteuid() == 0


def must_be_in_page(box, said):
    if has_all_of_kernel():
        row = row_of(box, said)
        expect(row in PAGE.read_text().splitlines(), f"docs/COMPATIBILITY.md lacks: {row}")


def all_right(makers, is_table):
    """Asks all of each box; for the table only what doctor says. `makers`: functions from an empty
    folder to a Box. Returns the exit status."""
    for make in makers:
        with tempfile.TemporaryDirectory() as folder:
            box = make(pathlib.Path(folder))
            said = box.doctor()
            if is_table:
                print(row_of(box, said))
                continue
            try_all(box, said)
            must_be_in_page(box, said)
    return 1 if failures else 0
