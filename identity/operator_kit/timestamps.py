"""Timestamps in one format, in the time zone of the administrator who reads the page.

The middleware of the operators' site activates the zone. Without one it is UTC.
"""

from datetime import UTC, datetime

from django.utils import timezone
from django.utils.html import format_html


def format_time(timestamp: datetime | None) -> str:
    """Return a timestamp as HTML, to the second, whose ``datetime`` is UTC; a dash for none."""
    if timestamp is None:
        return "-"
    machine = f"{timestamp.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return format_html('<time datetime="{}">{}</time>', machine, format_text(timestamp))


def format_text(timestamp: datetime, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """Return a timestamp as a text in a form of ``strftime``, with the abbreviation of its zone."""
    try:
        local = timezone.localtime(timestamp)
    except OverflowError:  # a time of an earlier release, at the end of the calendar
        local = timestamp.astimezone(UTC)
    zone = local.tzname() or ""
    # Some zones have no letters, but an offset such as -03.
    return f"{local:{form}} {zone if zone.isalpha() else f'UTC{zone}'}"
