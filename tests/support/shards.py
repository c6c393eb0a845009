"""A part of the tests for each of several machines: ``pytest --shard=1/3``, and 2/3 and 3/3 elsewhere.

A file is never divided, because its tests share what they set up. The files are shared out by how many tests
they have, so that each machine works out the same shares by itself.
"""

import heapq
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import pytest


class Shard(NamedTuple):
    """One part of several; the first has number 1."""

    number: int
    of: int


def part(text: str) -> Shard:
    """Read ``1/3``.

    Raises:
        ValueError: It is no part of a whole.
    """
    number, _, of = text.partition("/")
    shard = Shard(int(number), int(of))
    if not 1 <= shard.number <= shard.of:
        raise ValueError(f"{text} is no part: write 1/3, 2/3 and 3/3")
    return shard


def share_out(counts: Mapping[str, int], parts: int) -> list[set[str]]:
    """Return the files of each part: the largest first, each to the part that has least."""
    shares: list[set[str]] = [set() for _ in range(parts)]
    loads = [(0, part) for part in range(parts)]
    for name in sorted(counts, key=lambda name: (-counts[name], name)):
        load, part = loads[0]
        shares[part].add(name)
        heapq.heapreplace(loads, (load + counts[name], part))
    return shares


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shard", type=part, metavar="1/3", help="only this part of the tests, by whole files")


@pytest.hookimpl(trylast=True)  # what this run need not test is no part of a share
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what other shards run."""
    shard = config.getoption("shard")
    if shard is None:
        return
    mine = share_out(Counter(map(_file, items)), shard.of)[shard.number - 1]
    config.hook.pytest_deselected(items=[item for item in items if _file(item) not in mine])
    items[:] = [item for item in items if _file(item) in mine]


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]
