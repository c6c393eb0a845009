"""The summaries, pages and drawings of bench/."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from bench import flamegraph, flames, report, sections

PAGE = "# Page\n<!-- rates -->\nNothing.\n<!-- end -->\n<!-- soak -->\nNothing.\n<!-- end -->\nWords.\n"


def test_each_command_replaces_its_section_and_keeps_all_else():
    first = sections.merged(PAGE, {"rates": "| 1 |"})

    second = sections.merged(first, {"soak": "| 2 |"})

    assert (
        second == "# Page\n<!-- rates -->\n| 1 |\n<!-- end -->\n<!-- soak -->\n| 2 |\n<!-- end -->\nWords.\n"
    )


def test_every_section_that_a_command_writes_is_on_the_page():
    names = ["rates", "costs", "facts", "scale", "tenants", "flood", "soak", "profile"]

    page = sections.merged(sections.PAGE.read_text(), {name: f"of {name}" for name in names})

    assert [name for name in names if f"\nof {name}\n" not in page] == []


def measured(per_second: float) -> dict[str, Any]:
    same = {
        "p50": 1.0,
        "p99": 2.0,
        "server_ms": 0.5,
        "database_ms": 0.1,
        "generator_ms": 0.1,
        "other_load": 0.0,
    }
    return same | {"per_second": per_second, "errors": 0, "messages": []}


def measurements(row: str, *pairs: tuple[float, float]) -> dict[str, Any]:
    limits = {"es256": 1.0, "argon2id": 100.0, "commits": 1000.0, "baseline": 1000.0}
    runs = [
        {"limits": limits, "rows": {row: measured(ours)}, "peer": {"2": {row: measured(theirs)}}}
        for ours, theirs in pairs
    ]
    peer = {"version": "other 1", "starts": [0.1], "memory": []}
    facts = {
        "date": "",
        "machine": {},
        "versions": {},
        "settings": {},
        "note": "",
        "memory": {},
        "starts": [1.0],
    }
    return facts | {"peer": peer, "runs": runs}


@pytest.mark.parametrize(("ours", "reached"), [(150, True), (149, False)])
def test_a_goal_is_a_ratio_of_the_same_run(ours, reached):
    pairs = [(ours, 100), (10 * ours, 1000), (1, 1000)]  # the machine slowed down in the last one

    (row,) = report.summarize(measurements("refresh", *pairs))["rows"]

    assert row["ratio"] == ours / 100
    assert row["reached"] is reached


@pytest.mark.parametrize(("ours", "reached"), [(75, True), (74, False)])
def test_logins_have_to_reach_a_share_of_the_limit_too(ours, reached):
    (row,) = report.summarize(measurements("login", (ours, 10)))["rows"]

    assert row["reached"] is reached


def test_the_ratio_of_a_passkey_sign_in_is_to_full_logins_of_the_same_run():
    found = measurements("passkey-sign-in", (20, 1), (50, 1))
    for run, logins in zip(found["runs"], (10, 5), strict=True):
        run["rows"]["login"] = measured(logins)
        run["peer"]["2"] = {"login": measured(1)}

    login, passkey = report.summarize(found)["rows"]

    assert (login["name"], passkey["ratio"], passkey["peer"]) == ("login", 6.0, {})
    assert passkey["reached"] is False


def test_the_ratio_of_a_passkey_sign_in_alone_is_unknown():
    (row,) = report.summarize(measurements("passkey-sign-in", (20, 1)))["rows"]

    assert (row["ratio"], row["reached"]) == (None, None)


def test_a_flame_graph_is_as_wide_as_what_was_seen():
    raw = "run (threading.py);view (oidc/views.py) 3\nrun (threading.py);wait (psycopg/c.py) 1\n"

    stacks = flamegraph.read(raw)
    drawing = ET.fromstring(flamegraph.svg(stacks, "<title>", flames.package_of))  # noqa: S314 - our own

    boxes = drawing.findall("{*}g/{*}rect")
    assert [float(box.attrib["width"]) for box in boxes] == [1199.5, 899.5, 299.5]
    assert flames.shares(stacks) == {"our oidc": 75, "psycopg": 25}
