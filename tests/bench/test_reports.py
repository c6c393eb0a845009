"""What the programs of bench/ make of what they measured."""

from collections.abc import Mapping
from xml.etree import ElementTree as ET

import pytest

PAGE = "# Page\n<!-- rates -->\nNothing.\n<!-- end -->\n<!-- soak -->\nNothing.\n<!-- end -->\nWords.\n"


def test_each_program_writes_its_section_and_leaves_all_else(program):
    sections = program("sections")
    first = sections.merged(PAGE, {"rates": "| 1 |"})

    second = sections.merged(first, {"soak": "| 2 |"})

    assert (
        second == "# Page\n<!-- rates -->\n| 1 |\n<!-- end -->\n<!-- soak -->\n| 2 |\n<!-- end -->\nWords.\n"
    )


def test_every_section_that_a_program_writes_is_on_the_page(program):
    sections = program("sections")
    names = ["rates", "costs", "facts", "scale", "tenants", "flood", "soak", "profile"]

    page = sections.merged(sections.PAGE.read_text(), {name: f"of {name}" for name in names})

    assert [name for name in names if f"\nof {name}\n" not in page] == []


def measured(per_second: float) -> dict[str, object]:
    same = {"p50": 1.0, "p99": 2.0, "server_ms": 0.5, "database_ms": 0.1, "generator_ms": 0.1, "others": 0.0}
    return same | {"per_second": per_second, "errors": 0, "said": []}


def found(row: str, *pairs: tuple[float, float]) -> Mapping[str, object]:
    limits = {"es256": 1.0, "argon2id": 100.0, "commits": 1000.0, "floor": 1000.0}
    runs = [
        {"limits": limits, "rows": {row: measured(ours)}, "beside": {"2": {row: measured(theirs)}}}
        for ours, theirs in pairs
    ]
    beside = {"version": "other 1", "starts": [0.1], "memory": []}
    facts = {
        "date": "",
        "machine": {},
        "versions": {},
        "settings": {},
        "note": "",
        "memory": {},
        "starts": [1.0],
    }
    return facts | {"beside": beside, "runs": runs}


@pytest.mark.parametrize(("ours", "reached"), [(150, True), (149, False)])
def test_a_goal_is_a_ratio_of_the_same_run(program, ours, reached):
    pairs = [(ours, 100), (10 * ours, 1000), (1, 1000)]  # the machine slowed down in the last one

    (row,) = program("report").summary(found("refresh", *pairs))["rows"]

    assert row["ratio"] == ours / 100
    assert row["reached"] is reached


@pytest.mark.parametrize(("ours", "reached"), [(75, True), (74, False)])
def test_logins_have_to_reach_a_share_of_the_limit_too(program, ours, reached):
    (row,) = program("report").summary(found("login", (ours, 10)))["rows"]

    assert row["reached"] is reached


def test_a_flame_graph_is_as_wide_as_what_was_seen(program):
    flamegraph, flames = program("flamegraph"), program("flames")
    raw = "run (threading.py);view (oidc/views.py) 3\nrun (threading.py);wait (psycopg/c.py) 1\n"

    stacks = flamegraph.read(raw)
    drawing = ET.fromstring(flamegraph.svg(stacks, "<title>", flames.package_of))  # noqa: S314 - our own

    boxes = drawing.findall("{*}g/{*}rect")
    assert [float(box.attrib["width"]) for box in boxes] == [1199.5, 899.5, 299.5]
    assert flames.shares(stacks) == {"our oidc": 75, "psycopg": 25}
