"""The static files that pages load. Other files of installed apps are not served."""

import re
from collections.abc import Iterator
from typing import Any, Final

from django.contrib.staticfiles.finders import AppDirectoriesFinder
from whitenoise.middleware import WhiteNoiseMiddleware

_OURS: Final = "gatehouse/"
_ADMIN: Final = "admin/"
_VENDORED: Final = "/vendor/"
# The scripts of Django's admin that do not use jQuery. Injected HTML cannot load others.
_SCRIPTS: Final = {f"admin/js/{name}.js" for name in ("actions", "filters", "nav_sidebar", "theme")}
_HASH_OR_COMPRESSION: Final = re.compile(r"\.[0-9a-f]{12}(?=\.)|\.(?:gz|br)$")


def is_served(path: str) -> bool:
    """Return whether a page loads a file below ``STATIC_URL``, whose name may contain a hash."""
    name = _HASH_OR_COMPRESSION.sub("", path)
    if name.startswith(_ADMIN):
        return name in _SCRIPTS or (not name.endswith(".js") and _VENDORED not in name)
    return name.startswith(_OURS)


class ServedFinder(AppDirectoriesFinder):
    """Finds the files of apps that pages load. ``collectstatic`` copies no others."""

    def list(self, ignore_patterns: Any) -> Iterator[Any]:
        """Return the served files of all apps."""
        return (found for found in super().list(ignore_patterns) if is_served(found[0]))

    def find(self, path: str, *args: Any, **options: Any) -> Any:
        """Return the location of a file; an empty list if it is not served."""
        return super().find(path, *args, **options) if is_served(path) else []


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # WhiteNoise has no types
    """Serves the files in ``STATIC_ROOT`` that pages load. The folder may have files of earlier releases."""

    def add_file_to_dictionary(self, url: str, path: str, stat_cache: Any = None) -> None:
        """Add a file if a page loads it."""
        if is_served(url.removeprefix(self.static_prefix)):
            super().add_file_to_dictionary(url, path, stat_cache)
