"""The address of the published documentation, to which the operators' site links."""

from urllib.parse import urlsplit

from config import env


def read(name: str) -> str:
    """Read the address, without a slash at its end; an empty string if the variable is not set."""
    value = env.text(name).rstrip("/")
    try:
        parts = urlsplit(value)
        is_website = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        raise env.refuse(name, "is not a URL") from None
    if value and (not is_website or parts.query or parts.fragment):
        raise env.refuse(name, f"must look like https://docs.example.com, not {value!r}")
    return value
