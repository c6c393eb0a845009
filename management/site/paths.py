"""The paths of the operators' site."""

from typing import Final

from django.http import HttpRequest

_ROOT: Final = "/admin"


def is_of_site(request: HttpRequest) -> bool:
    """Return whether a request is for the operators' site, below any prefix of a tenant."""
    return request.path_info == _ROOT or request.path_info.startswith(f"{_ROOT}/")
