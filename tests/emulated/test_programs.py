"""The lines of tests/programs/MANIFEST and OUTSIDE."""
import signal
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "programs"


def lines():
    """(name, arguments, mode, status) of each program; the status is a shell's."""
    for line in (FOLDER / "MANIFEST").read_text().splitlines():
        fields = [field.strip() for field in line.split("|")]
        if line.startswith("#") or len(fields) < 4:
            continue
        kind, _, value = fields[3].partition("=")
        yield fields[0], fields[1], fields[2], int(value) if kind == "exit" else 128 + getattr(signal, f"SIG{value}")


def outside():
    """{name: what the outside world decides of it: "memory" or "turns"}"""
    rows = (line.split("|") for line in (FOLDER / "OUTSIDE").read_text().splitlines() if line and not line.startswith("#"))
    return {row[0].strip(): row[1].strip() for row in rows}
