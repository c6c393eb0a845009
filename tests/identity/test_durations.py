"""Lengths of time in words."""

import pytest
from django.utils.translation import override

from identity.core.durations import describe_exactly


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (90, "90 seconds"),
        (5_400, "90 minutes"),
        (3_600, "1 hour"),
        (86_400, "1 day"),
        (90_000, "25 hours"),
        (2_592_000, "30 days"),
    ],
)
def test_a_setting_is_described_in_the_largest_unit_that_leaves_nothing(seconds, text):
    assert describe_exactly(seconds) == text


def test_in_the_active_language():
    with override("de"):
        assert describe_exactly(2_592_000) == "30 Tage"
