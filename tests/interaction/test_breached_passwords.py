"""The operator's list of breached passwords: range files or one sorted file, asked offline."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from interaction.experience import breached_passwords, checks, policy
from interaction.experience.models import default_password_policy
from tests.support.codes import experience
from tests.support.management import refusal_of, superuser

BREACHED = ["password1", "hunter2hunter2", "\u00e4\u6f22-long-1", "trustno1trustno1", "a b c d e 1"]


def digest_of(password: str) -> str:
    return hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()


def lines() -> list[str]:
    others = [digest_of(f"other {number}") for number in range(3000)]
    return sorted([*(f"{digest_of(one)}:7" for one in BREACHED), *(f"{other}:1" for other in others)])


@pytest.fixture(params=["directory", "directory of text files", "file", "file with CRLF", "lower case"])
def listed(request: Any, settings: Any, tmp_path: Path) -> Path:
    """The list in each form that it may have."""
    path = tmp_path / "breached"
    if request.param.startswith("directory"):
        path.mkdir()
        ending = ".txt" if "text" in request.param else ""
        (path / f"00000{ending}").write_text(f"{'0' * 35}:1\r\n")
        for line in lines():
            with (path / f"{line[:5]}{ending}").open("a", newline="") as file:
                file.write(f"{line[5:]}\r\n")
    else:
        text = ("\r\n" if "CRLF" in request.param else "\n").join(lines())
        path.write_bytes((text.lower() if "lower" in request.param else text).encode())
    settings.BREACHED_PASSWORDS = str(path)
    return path


def test_every_breached_password_is_found_and_no_other(listed):
    breached_passwords.check_list()

    assert all(map(breached_passwords.is_breached, BREACHED))
    assert breached_passwords.is_breached("other 0")
    assert breached_passwords.is_breached("other 2999")
    assert not any(breached_passwords.is_breached(f"{one}!") for one in BREACHED)
    assert not any(breached_passwords.is_breached(f"never {number}") for number in range(300))


def test_padding_is_no_breach(settings, tmp_path):
    digest = digest_of("padding123")
    (tmp_path / digest[:5]).write_text(f"{digest[5:]}:0\r\n")
    settings.BREACHED_PASSWORDS = str(tmp_path)

    assert not breached_passwords.is_breached("padding123")


@pytest.mark.parametrize("content", [None, b"", b"not a list\n", b"\xff" * 5000, b"A" * 40 + b":x\n"])
def test_a_bad_list_refuses_nobody_and_the_doctor_says_so(settings, tmp_path, content):
    path = tmp_path / "list"
    if content is not None:
        path.write_bytes(content)
    settings.BREACHED_PASSWORDS = str(path)

    assert not breached_passwords.is_breached("password1")
    with pytest.raises(breached_passwords.BadList):
        breached_passwords.check_list()


def test_a_list_of_a_gigabyte_is_not_read_as_a_whole(settings, tmp_path):
    path = tmp_path / "list"
    with path.open("wb") as file:
        file.write(f"{digest_of('password1')}:1\n".encode())
        file.truncate(2**30)  # a hole: reading all of it would take seconds
    settings.BREACHED_PASSWORDS = str(path)

    assert not breached_passwords.is_breached("password1x")


def test_the_policy_refuses_them_by_name(settings, tmp_path):
    (tmp_path / "list").write_text("\n".join(lines()))
    settings.BREACHED_PASSWORDS = str(tmp_path / "list")
    asked = default_password_policy() | {"reject_breached": True}

    with pytest.raises(policy.PasswordRefused) as refused:
        policy.check("password1", asked)

    assert [rule.name for rule in refused.value.rules] == ["reject_breached"]
    assert policy.check("never seen 1", asked)
    assert "reject_breached" in {rule.name for rule in policy.rules(asked)}


def test_a_policy_cannot_ask_for_a_list_that_is_not_there(acme):
    refused = refusal_of(
        superuser(acme).patch("/sign-in-experience", password_policy={"reject_breached": True}), 400
    )

    assert "BREACHED_PASSWORDS" in str(refused)


def test_the_doctor_names_tenants_whose_wish_is_not_met(acme, settings):
    settings.BREACHED_PASSWORDS = ""
    experience(acme, password_policy={"reject_breached": True})

    with acme.active():
        (found,) = checks.breached_password_list()

    assert acme.tenant.slug in found.msg
