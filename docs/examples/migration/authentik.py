"""Turn the users of ``authentik.sql`` into lines for ``manage.py import_users``.

It reads CSV from standard input and writes JSON lines to standard output. A user whose apps all show codes
that Gatehouse does not support is left out and named, because the password alone would then be enough.
"""

import base64
import csv
import json
import sys
from typing import Any


def find_secret(apps: list[dict[str, Any]]) -> str:
    """Return the secret of the newest app with six digits and 30 seconds in base32, or the empty text."""
    for app in apps:
        if (app["digits"], app["step"]) == (6, 30):
            return base64.b32encode(bytes.fromhex(app["key"])).decode().rstrip("=")
    return ""


def to_user(row: dict[str, str], secret: str) -> dict[str, Any]:
    """Return the fields of a user. authentik does not record whether somebody has confirmed an email."""
    username, password = row["username"], row["password"]
    identifiers: dict[str, Any] = {"username": username, "email": row["email"]}
    if "@" in username:
        # The user may have chosen the username, so it does not prove the address.
        identifiers = (
            {"email": row["email"]} if row["email"] else {"email": username, "email_verified": False}
        )
    return identifiers | {
        "id": row["uuid"],
        "name": row["name"],
        # An unusable password begins with an exclamation mark.
        "password_hash": "" if password.startswith("!") else password,
        "totp_secret": secret,
        "is_suspended": row["is_active"] != "t",
        "created_at": row["date_joined"],
        "custom_data": json.loads(row["attributes"]),
    }


def main() -> None:
    """Convert all users, and name those who are left out."""
    for row in csv.DictReader(sys.stdin):
        apps = json.loads(row["apps"] or "[]")
        secret = find_secret(apps)
        if apps and not secret:
            sys.stderr.write(f"left out: {row['username']} has no app with six digits and 30 seconds\n")
            continue
        if len(apps) > 1:
            sys.stderr.write(f"{row['username']} has {len(apps)} apps, of which one is imported\n")
        sys.stdout.write(json.dumps(to_user(row, secret)) + "\n")


if __name__ == "__main__":
    main()
