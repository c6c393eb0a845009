"""What Linux says of processes: CPU time, children, memory. Elsewhere there are no such numbers."""

import os
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
AVAILABLE: Final = (PROC / "self" / "smaps_rollup").exists()
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """Return the fields after the program's name, which may hold anything (proc(5))."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def cpu_of(pids: list[int]) -> dict[int, float]:
    """Return the seconds of CPU that each living process has used in all its threads."""
    fields = {pid: _stat(pid) for pid in pids}
    return {pid: (int(of[11]) + int(of[12])) / _TICKS for pid, of in fields.items() if of}


def spent(before: dict[int, float], after: dict[int, float]) -> float:
    """Return the seconds used between two looks; a process that is new began with none."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())


def family_of(root: int) -> list[int]:
    """Return a process and all that descend from it."""
    parents = {int(path.name): _stat(int(path.name)) for path in PROC.glob("[0-9]*")}
    family = [root]
    for member in family:
        family += [pid for pid, fields in parents.items() if fields and int(fields[1]) == member]
    return family


def parent_of(pid: int) -> int:
    """Return the process that started a process, or 0 if there is no such process here."""
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def name_of(pid: int) -> str:
    """Return the program's name, or nothing if there is no such process here."""
    try:
        return (PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return ""


def memory_of(pid: int) -> tuple[float, float]:
    """Return the MiB of a process: its share (PSS, shared pages divided by who shares) and RSS."""
    sizes = {
        line.partition(":")[0]: int(line.split()[1]) / 1024
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines()[1:]
    }
    return sizes["Pss"], sizes["Rss"]


def machine_busy() -> float:
    """Return the seconds that all processors together have worked since the machine started."""
    fields = (PROC / "stat").read_text().splitlines()[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = (int(field) for field in fields[:8])
    return (user + nice + system + irq + softirq + steal) / _TICKS
