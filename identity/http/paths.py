"""The paths of routes, for requests that are too frequent for Django's search of all routes."""

from functools import cache

from django.urls import get_script_prefix, reverse


def get(name: str) -> str:
    """Return the path of a route without variable parts, below the prefix of the request's tenant."""
    return f"{get_script_prefix()}{_find_below_prefix(name)}"


@cache
def _find_below_prefix(name: str) -> str:
    return reverse(name).removeprefix(get_script_prefix())
