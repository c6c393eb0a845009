"""The tests can be shared out to several machines, and together these run all of them."""

from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import shards

COUNTS = st.dictionaries(st.text("abc", min_size=1), st.integers(1, 500), max_size=40)


@given(COUNTS, st.integers(1, 8))
def test_each_file_is_in_one_part(counts, parts):
    shares = shards.share_out(counts, parts)

    assert len(shares) == parts
    assert sorted(name for share in shares for name in share) == sorted(counts)


@given(COUNTS, st.integers(1, 8), st.randoms())
def test_every_machine_works_out_the_same_parts(counts, parts, random):
    names = list(counts)
    random.shuffle(names)

    assert shards.share_out({name: counts[name] for name in names}, parts) == shards.share_out(counts, parts)


@given(COUNTS, st.integers(1, 8))
def test_no_part_has_more_than_another_by_more_than_a_file(counts, parts):
    loads = [sum(counts[name] for name in share) for share in shards.share_out(counts, parts)]

    assert max(loads) - min(loads) <= max(counts.values(), default=0)


@pytest.mark.parametrize(("text", "shard"), [("1/1", (1, 1)), ("1/3", (1, 3)), ("3/3", (3, 3))])
def test_a_part_is_written_as_a_fraction(text, shard):
    assert shards.part(text) == shard


@pytest.mark.parametrize("text", ["0/3", "4/3", "-1/3", "1/0", "1", "/", "", "1/3/5", "one/three", "1.5/3"])
def test_what_is_no_part_is_refused(text):
    with pytest.raises(ValueError, match=r"\w"):
        shards.part(text)


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_each_test_runs_in_one_part(parts):
    nodes = [f"tests/test_{file}.py::test_{number}" for file in "abcd" for number in range(ord(file) - 94)]
    ran, left_out = [], 0
    for number in range(1, parts + 1):
        items: list[Any] = [mock.Mock(nodeid=node) for node in nodes]
        config = mock.Mock()
        config.getoption.return_value = shards.Shard(number, parts)
        shards.pytest_collection_modifyitems(config, items)
        ran += [item.nodeid for item in items]
        left_out += len(config.hook.pytest_deselected.call_args.kwargs["items"])

    assert sorted(ran) == sorted(nodes)
    assert left_out == len(nodes) * (parts - 1)
