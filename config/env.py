"""Readers of environment variables. An invalid value raises an error that names the variable and the rule."""

import importlib.util
import ipaddress
import os
import re
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import phonenumbers
from django.core.exceptions import ImproperlyConfigured

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}
_MINIMUM_SECRET = 32
_RANDOM = f"must be at least {_MINIMUM_SECRET} random characters"
# A host as browsers write it in the Origin header.
_HOST = re.compile(r"[a-z0-9_.-]+|\[[0-9a-f:.]+\]")


def refuse(name: str, rule: str) -> ImproperlyConfigured:
    """Return the error for a variable that breaks a rule."""
    return ImproperlyConfigured(f"{name}: {rule}")


def text(name: str, default: str = "") -> str:
    """Read a string without surrounding white space. The default replaces an empty string."""
    return os.environ.get(name, "").strip() or default


def flag(name: str, *, default: bool = False) -> bool:
    """Read a boolean."""
    value = text(name).lower()
    if not value:
        return default
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise refuse(name, f"must be true or false, not {value!r}")


def choice(name: str, choices: tuple[str, ...], default: str) -> str:
    """Read one of a few values, ignoring case."""
    value = text(name, default).lower()
    if value not in choices:
        raise refuse(name, f"must be one of {', '.join(choices)}, not {value!r}")
    return value


def integer(name: str, default: int, *, least: int = 0, most: int = 2**31 - 1) -> int:
    """Read a whole number from ``least`` to ``most``."""
    value = text(name, str(default))
    try:
        number = int(value)
    except ValueError:
        raise refuse(name, f"must be a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise refuse(name, f"must be from {least} to {most}, not {number}")
    return number


def listing(name: str) -> list[str]:
    """Read a comma-separated list."""
    return [part.strip() for part in text(name).split(",") if part.strip()]


def addresses(name: str) -> set[str]:
    """Read a comma-separated list of IP addresses, and return them in canonical form."""
    try:
        return {str(ipaddress.ip_address(part)) for part in listing(name)}
    except ValueError as error:
        raise refuse(name, f"must be IP addresses separated by commas: {error}") from None


def base_url(name: str, default: str, *, development: bool) -> str:
    """Read the public URL, which has a scheme, a host and optionally a port, but no path.

    Production requires https, except for loopback hosts.
    """
    value = text(name, default).rstrip("/")
    if not value:
        raise refuse(name, "is required in production, for example https://id.example.com")
    parts = _split(name, value)
    host = parts.netloc.lower().removesuffix(f":{parts.port}")
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host):
        raise refuse(name, f"must look like https://id.example.com, not {value!r}")
    if parts.port == {"http": 80, "https": 443}[parts.scheme]:
        raise refuse(name, f"must not contain the default port {parts.port}, but is {value!r}")
    if parts.path or parts.query or parts.fragment:
        raise refuse(name, f"must not have a path, query or fragment, but is {value!r}")
    if parts.scheme == "http" and not (development or host in {"localhost", "127.0.0.1", "[::1]"}):
        raise refuse(name, "must be https in production")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _split(name: str, value: str) -> SplitResult:
    try:
        parts = urlsplit(value)
        _ = parts.port, parts.hostname  # reading them raises ValueError if they are invalid
    except ValueError:
        raise refuse(name, "is not a URL") from None
    return parts


def secret(name: str, *, development: bool, kept_in: Path, size: int = 32, rule: str = _RANDOM) -> str:
    """Read a secret of at least 32 characters. ``rule`` says what the variable must be.

    In development, the first start generates a secret of ``size`` bytes and stores it in ``kept_in``, a file
    that only its owner can read. Production does not start without a secret.
    """
    value = text(name)
    if not value and development:
        return _read_or_generate(name, kept_in, size)
    if not value:
        raise refuse(name, "is required in production")
    if not _looks_random(value) or re.search(r"change.?me|insecure|secret.?key", value, re.IGNORECASE):
        raise refuse(name, f"{rule}, and not a default value")
    return value


def optional_secret(name: str) -> str:
    """Read a secret of at least 32 characters; an empty string if the variable is not set."""
    if (value := text(name)) and not _looks_random(value):
        raise refuse(name, _RANDOM)
    return value


def tracing(name: str) -> bool:
    """Return whether tracing is configured. It needs two optional packages."""
    if text(name) and importlib.util.find_spec("opentelemetry") is None:
        raise refuse(name, "needs two packages: see docs/monitoring.md")
    return bool(text(name))


def _looks_random(value: str) -> bool:
    return len(value) >= _MINIMUM_SECRET and len(set(value)) >= _MINIMUM_SECRET // 4


def _read_or_generate(name: str, path: Path, size: int) -> str:
    """Return the secret in a file. If the file is missing, generate a secret and write it atomically."""
    _make_folder(name, path)
    if not path.exists():
        descriptor, draft = tempfile.mkstemp(dir=path.parent)  # mode 0600
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(size) + "\n")
        with suppress(FileExistsError):
            path.hardlink_to(draft)
        Path(draft).unlink()
    value = path.read_text(encoding="ascii", errors="replace").strip()
    if not _looks_random(value):
        raise refuse(name, f"{path} does not contain a secret: delete this file")
    return value


def _make_folder(name: str, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refuse(name, f"the folder of {path} cannot be created: {error.strerror}") from None


def database(name: str, default: str, *, pool: int = 0, prepared: bool = True) -> dict[str, object]:
    """Read ``sqlite:///relative``, ``sqlite:////absolute`` or ``postgres://user:password@host:port/name``.

    The query string is passed to libpq: ``postgres://host/name?sslmode=verify-full``. The threads of a
    process share at most ``pool`` connections to PostgreSQL; with 0, each thread has its own. ``prepared``
    is false for a connection pooler that does not support prepared statements.
    """
    parts = _split(name, text(name, default))
    if parts.fragment:
        raise refuse(name, "must contain %23 instead of #")
    if parts.scheme == "sqlite":
        if parts.netloc or parts.query:
            raise refuse(name, "must look like sqlite:///relative/path or sqlite:////absolute/path")
        return _sqlite(name, Path(unquote(parts.path[1:])))
    if parts.scheme in {"postgres", "postgresql"}:
        return _postgresql(name, parts, pool, prepared=prepared)
    raise refuse(name, f"must begin with sqlite:/// or postgres://, not {parts.scheme!r}")


def redis_url(name: str) -> str:
    """Read ``redis://host:port/number`` or ``rediss://…``; an empty string if the variable is not set."""
    if (value := text(name)) and _split(name, value).scheme not in {"redis", "rediss"}:
        raise refuse(name, "must begin with redis:// or rediss://")
    return value


def region(name: str) -> str:
    """Read an ISO 3166-1 alpha-2 region; an empty string if the variable is not set."""
    value = text(name).upper()
    if value and value not in phonenumbers.SUPPORTED_REGIONS:
        raise refuse(name, f"must be the two letters of a region, for example DE or GB, not {value!r}")
    return value


def contact(name: str) -> str:
    """Read the URI of a contact; an empty string if the variable is not set."""
    if (value := text(name)) and not value.startswith(("mailto:", "https://")):
        raise refuse(name, f"must begin with mailto: or https://, not {value!r}")
    return value


def _sqlite(name: str, path: Path) -> dict[str, object]:
    if not path.name:
        raise refuse(name, "must name a file: sqlite:///var/gatehouse.sqlite3")
    _make_folder(name, path)
    try:
        # SQLite would create a file that everyone can read. SQLite's other files get the mode of this one.
        os.close(os.open(path, os.O_RDONLY | os.O_CREAT, 0o600))
    except OSError as error:
        raise refuse(name, f"{path} cannot be opened: {error.strerror}") from None
    return {
        "ENGINE": "database.sqlite",
        "NAME": path,
        "CONN_MAX_AGE": None,  # opening the file and reading its schema takes longer than most requests
        "OPTIONS": {
            # A committed write survives a power failure, and writers wait instead of failing.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
        },
    }


def _postgresql(name: str, parts: SplitResult, pool: int, *, prepared: bool) -> dict[str, object]:
    if not parts.path.strip("/"):
        raise refuse(name, "must name a database: postgres://host/name")
    shared = {"min_size": 1, "max_size": pool, "timeout": 5, "name": "gatehouse"}
    pooled: dict[str, object] = {"pool": shared} if pool else {}
    return {
        "ENGINE": "database.postgresql",
        "NAME": unquote(parts.path[1:]),
        "HOST": unquote(parts.hostname or ""),
        "PORT": parts.port or "",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "CONN_MAX_AGE": 0 if pool else None,  # a pool keeps its connections open
        "CONN_HEALTH_CHECKS": True,
        # A pooler such as PgBouncer does not keep a cursor across transactions.
        "DISABLE_SERVER_SIDE_CURSORS": True,
        "OPTIONS": {"connect_timeout": 5, "server_side_binding": True}
        # A statement that a connection repeats is prepared, so it is planned only once.
        | ({"prepare_threshold": 3} if prepared else {})
        | pooled
        | dict(parse_qsl(parts.query)),
    }
