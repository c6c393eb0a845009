"""Names and phone numbers that nobody has."""

import secrets


def new_name(prefix: str = "n") -> str:
    return f"{prefix}-{secrets.token_hex(5)}"


def new_phone() -> str:
    return f"+49{secrets.randbelow(10**11):011}"
