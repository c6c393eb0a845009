"""Which static files are served: those that a page loads, and nothing else that an installed app brings."""

import re
from collections.abc import Iterator
from typing import Any, Final

from django.contrib.staticfiles.finders import AppDirectoriesFinder
from whitenoise.middleware import WhiteNoiseMiddleware

_OURS: Final = "gatehouse/"
_ADMIN: Final = "admin/"
_VENDORED: Final = "/vendor/"
# Scripts of Django's admin that need no jQuery. An injected element must find no other to lean on.
_SCRIPTS: Final = {f"admin/js/{name}.js" for name in ("actions", "filters", "nav_sidebar", "theme")}
_HASH_OR_COMPRESSION: Final = re.compile(r"\.[0-9a-f]{12}(?=\.)|\.(?:gz|br)$")


def is_served(path: str) -> bool:
    """Tell whether a page loads the file of a path below ``STATIC_URL``, a hash in its name or none."""
    name = _HASH_OR_COMPRESSION.sub("", path)
    if name.startswith(_ADMIN):
        return name in _SCRIPTS or (not name.endswith(".js") and _VENDORED not in name)
    return name.startswith(_OURS)


class ServedFinder(AppDirectoriesFinder):
    """Finds in the folders of apps what pages load: ``collectstatic`` copies no more."""

    def list(self, ignore_patterns: Any) -> Iterator[Any]:
        """Return the files of all apps that are served."""
        return (found for found in super().list(ignore_patterns) if is_served(found[0]))

    def find(self, path: str, *args: Any, **options: Any) -> Any:
        """Return the place of a file, or nothing for one that is not served."""
        return super().find(path, *args, **options) if is_served(path) else []


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # WhiteNoise has no types
    """Serves what pages load from ``STATIC_ROOT``, where an earlier release may have left more."""

    def add_file_to_dictionary(self, url: str, path: str, stat_cache: Any = None) -> None:
        """Have a file served, if pages load it."""
        if is_served(url.removeprefix(self.static_prefix)):
            super().add_file_to_dictionary(url, path, stat_cache)
