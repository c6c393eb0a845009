"""The console page that imports users from a file."""

import html
import re
from pathlib import Path
from typing import Any

from identity.users.models import User
from tests.support.cast import World
from tests.support.operators import Operator

PATH = "/admin/users/user/do/import/"
SAMPLES = Path(__file__).parent.parent / "management" / "samples"
HASH = "$2b$12$" + "a" * 21 + "e" + "b" * 30 + "e"
THREE = b"id,username,email\n1,ann,ann@example.com\n2,ben,\n3,not good,\n"


def hidden(page: str) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
    return {name: html.unescape(value) for name, value in found}


def check(operator: Operator, content: bytes, name: str = "users.csv", **fields: Any) -> Any:
    """Send a file to be checked."""
    files = {"file": (name, content)}
    if other := fields.pop("password_file", None):
        files["password_file"] = ("other", other)
    return operator.http.post(PATH, data=hidden(operator.get(PATH).text) | fields, files=files)


def checked(operator: Operator, content: bytes, name: str = "users.csv", **fields: Any) -> tuple[str, str]:
    """The address and the text of the page about a checked file."""
    answer = check(operator, content, name, **fields)
    assert answer.status_code == 303, answer.text
    address = answer.headers["Location"]
    return address, _without_labels(operator.get(address).text)


def run(operator: Operator, content: bytes, name: str = "users.csv", **fields: Any) -> str:
    """The page of the result of an import."""
    _, page = checked(operator, content, name, **fields)
    answer = operator.http.post(PATH, data=hidden(page))
    assert answer.status_code == 303, answer.text
    return _without_labels(operator.get(answer.headers["Location"]).text)


def _without_labels(page: str) -> str:
    """Return a page whose cells have no attributes, such as the labels that phones show."""
    return re.sub(r"<td [^>]*>", "<td>", page)


def numbers(page: str) -> dict[str, int]:
    """The numbers on a page."""
    cells = re.findall(r"<tr><td>([^<]+)</td><td>([\d,]+)</td></tr>", page)
    return {name.partition(",")[0]: int(number.replace(",", "")) for name, number in cells}


def names(world: World) -> set[str]:
    with world.active():
        return set(User.objects.values_list("username", flat=True))
