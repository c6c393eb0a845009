"""The name of a browser and its system, from the user agent string."""

from typing import Final

from django.utils.translation import gettext

# In order of precedence: nearly all browsers also name Safari, and many name Chrome.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Vivaldi/", "Vivaldi"),
    ("YaBrowser/", "Yandex Browser"),
    ("DuckDuckGo/", "DuckDuckGo"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "Mac"),
    ("Linux", "Linux"),
)


def describe(user_agent: str) -> str:
    """Return the browser and the system, for example ``Firefox on Windows``."""
    return translate(get_name(user_agent))


def get_name(user_agent: str) -> str:
    """Return the English name of a browser and its system, or an empty string. It can be stored."""
    names = (_find_name(user_agent, _BROWSERS), _find_name(user_agent, _SYSTEMS))
    return " on ".join(name for name in names if name)


def translate(name: str) -> str:
    """Return a name of ``get_name`` in the active language."""
    browser, _, system = name.partition(" on ")
    if system:
        return gettext("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or gettext("Unknown browser")


def _find_name(user_agent: str, names: tuple[tuple[str, str], ...]) -> str:
    return next((name for mark, name in names if mark in user_agent), "")
