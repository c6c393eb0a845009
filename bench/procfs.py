"""CPU time, children and memory of processes, from Linux's /proc. Other systems have no such numbers."""

import os
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
AVAILABLE: Final = (PROC / "self" / "smaps_rollup").exists()
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """Return the fields after the program's name, which may contain anything (proc(5))."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def cpu_of(pids: list[int]) -> dict[int, float]:
    """Return the CPU seconds of each living process, over all its threads."""
    stats = {pid: _stat(pid) for pid in pids}
    return {pid: (int(stat[11]) + int(stat[12])) / _TICKS for pid, stat in stats.items() if stat}


def cpu_between(before: dict[int, float], after: dict[int, float]) -> float:
    """Return the CPU seconds used between two readings; a new process started with 0."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())


def family_of(root: int) -> list[int]:
    """Return a process and all its descendants."""
    parents = {int(path.name): _stat(int(path.name)) for path in PROC.glob("[0-9]*")}
    family = [root]
    for member in family:
        family += [pid for pid, fields in parents.items() if fields and int(fields[1]) == member]
    return family


def parent_of(pid: int) -> int:
    """Return the parent of a process, or 0 if there is no such process."""
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def name_of(pid: int) -> str:
    """Return the program's name, or an empty string if there is no such process."""
    try:
        return (PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return ""


def memory_of(pid: int) -> tuple[float, float]:
    """Return PSS and RSS in MiB. PSS divides each shared page by the number of its processes."""
    sizes = {
        line.partition(":")[0]: int(line.split()[1]) / 1024
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines()[1:]
    }
    return sizes["Pss"], sizes["Rss"]


def machine_busy() -> float:
    """Return the seconds that all processors have worked since the machine started."""
    fields = (PROC / "stat").read_text().splitlines()[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = (int(field) for field in fields[:8])
    return (user + nice + system + irq + softirq + steal) / _TICKS
