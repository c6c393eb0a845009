"""The calculation of docs/scale.md, from costs that are easy to multiply."""

from dataclasses import replace

import pytest

from bench import capacity, capacity_plan, sections
from bench.capacity_plan import Cost, Size

FREE = Cost(server_ms=0, database_ms=0, commits=0, wal=0, entries=0)
NOTHING = {use.row: FREE for use in capacity_plan.USES}
ROW = Size(row=500, with_indexes=1000, rows=1)
SIZES = dict.fromkeys(capacity.TABLES, ROW)


def part(name: str, **costs: Cost) -> str:
    return {line[0]: line[1] for line in capacity_plan.parts(NOTHING | costs, SIZES)}[name]


def test_the_busiest_second_has_ten_times_the_average_of_sign_ins():
    costs = NOTHING | {"login": replace(FREE, server_ms=30, database_ms=5)}

    sign_ins, *_, together = capacity_plan.loads(costs)[1:]

    # 40 million accounts, 4 times in 30 days: 61.7 a second.
    assert sign_ins == ["sign-ins", "160 million", "62/s", "617/s", "18.5", "3.1"]
    assert together[-2:] == ["**18.5**", "**3.1**"]


@pytest.mark.parametrize(
    ("server_ms", "cores", "nodes"),
    [(1, "1", "1, 2 with a reserve"), (30, "31", "4, 6 with a reserve"), (60, "62", "8, 11 with a reserve")],
)
def test_nodes_of_eight_cores_are_sixty_percent_busy_and_one_zone_may_fail(server_ms, cores, nodes):
    login = replace(FREE, server_ms=server_ms)

    assert part("Server cores", login=login) == cores
    assert part("Nodes of 8 cores", login=login) == nodes


def test_what_is_written_follows_from_sign_ins_and_refreshes():
    writes = replace(FREE, commits=1, wal=1000, entries=1)

    assert part("Commits that write, at peak", login=writes) == "617/s"
    assert part("Commits that write, at peak", login=writes, refresh=writes) == "4,321/s"
    assert part("WAL, at peak", login=writes, refresh=writes) == "4.3 MB/s"
    # 40 million accounts, 64 entries in 30 days, 1,000 bytes
    assert part("Audit log, a day", login=writes, refresh=writes) == "85 GB"


def test_the_disk_has_users_sessions_families_and_consents():
    # 133 of users, whose indexes are filled in random order, two of 75, and 36 of consents
    assert part("Disk without the audit log") == "318 GB"


def test_every_section_that_the_command_writes_is_on_the_page():
    names = ["measured", "costs", "sizes", "loads", "parts"]

    page = sections.merged(capacity.PAGE.read_text(), {name: f"of {name}" for name in names})

    assert [name for name in names if f"\nof {name}\n" not in page] == []
