"""The operator's list of breached passwords, which is searched offline.

``BREACHED_PASSWORDS`` is the path of files from Have I Been Pwned: a directory of range files (``ABCDE`` or
``ABCDE.txt``, whose lines have the other 35 digits, a colon and a count), or one sorted file of whole SHA-1
hashes. A binary search reads about 30 pages of the largest file.
"""

import hashlib
import logging
import mmap
from pathlib import Path
from typing import Final

from django.conf import settings

_PREFIX: Final = 5
_DIGITS: Final = 40
_log = logging.getLogger(__name__)


class BadList(Exception):
    """The list cannot be read, or has another format."""


def is_available() -> bool:
    """Return whether a list is configured."""
    return bool(settings.BREACHED_PASSWORDS)


def is_breached(password: str) -> bool:
    """Return whether a password is on the list. If the list cannot be read, log an error and return false."""
    if not is_available():
        return False
    digest = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()
    try:
        return _find_count(Path(settings.BREACHED_PASSWORDS), digest) > 0
    except (OSError, ValueError) as error:
        _log.error("BREACHED_PASSWORDS cannot be read: %s", type(error).__name__)
        return False


def check_list() -> None:
    """Check the first line of the list.

    Raises:
        BadList: the list cannot be read, or has another format.

    """
    path = Path(settings.BREACHED_PASSWORDS)
    try:
        if path.is_dir():
            # One range file is enough, because a download contains all of them.
            path = next((file for file in map(path.joinpath, ("00000", "00000.txt")) if file.is_file()), path)
            width = _DIGITS - _PREFIX
        else:
            width = _DIGITS
        with path.open("rb") as file:
            line = file.readline(200).strip()
    except OSError as error:
        raise BadList(f"{path} cannot be read ({type(error).__name__})") from None
    digest, _, count = line.partition(b":")
    if len(digest) != width or not count.isdigit() or digest.upper().strip(b"0123456789ABCDEF"):
        raise BadList(f"{path} does not begin with a line of {width} hexadecimal digits, a colon and a count")


def _find_count(path: Path, digest: str) -> int:
    if not path.is_dir():
        return _search(path, digest.encode())
    prefix, rest = digest[:_PREFIX], digest[_PREFIX:].encode()
    for file in (path / prefix, path / f"{prefix}.txt"):
        if file.is_file():
            return _search(file, rest)
    return 0


def _search(path: Path, digest: bytes) -> int:
    """Return the count of a hash in a sorted file; 0 if the hash is missing. Padding has the count 0 too."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return 0
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as lines:
            low, high = 0, len(lines)
            while low < high:
                start = lines.rfind(b"\n", low, (low + high) // 2) + 1 or low
                end = lines.find(b"\n", start)
                end = len(lines) if end < 0 else end
                found, _, count = lines[start:end].strip().upper().partition(b":")
                if found == digest:
                    return int(count)
                low, high = (end + 1, high) if found < digest else (low, start)
    return 0
