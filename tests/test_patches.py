"""What tests patch exists in the product: a rename does not disarm a patch unnoticed."""

from pathlib import Path

import pytest

from tests.support import patches

TESTS = Path(__file__).resolve().parent

# Text that only looks like a name of the product, with what it is.
OTHERWISE = {
    "config.feed.api_key": "a member of a connector's configuration",
    "config.from_name": "a member of a connector's configuration",
    "config.password": "a member of a connector's configuration",
    "config.host": "a member of a connector's configuration",
    "config.port": "a member of a connector's configuration",
    "config.from_email": "a member of a connector's configuration",
    "audit.Entry": "the label of a model",
    "audit.entry": "the label of a page of the operators' site",
}


def test_every_name_that_a_test_patches_or_writes_as_text_exists():
    found = {
        f"{path.relative_to(TESTS)}:{fault}"
        for path in sorted(TESTS.rglob("*.py"))
        if path != Path(__file__)
        for fault in patches.faults(path.read_text())
        if fault.rpartition(" ")[2] not in OTHERWISE
    }

    assert sorted(found) == []


@pytest.mark.parametrize(
    "right",
    [
        'monkeypatch.setattr("identity.users.passwords.verify", broken)',
        'mock.patch("management.administrators.tokens.time.time")',
        'from identity.users import passwords\nmonkeypatch.setattr(passwords, "_queue", full)',
        'from identity.users import passwords\nmonkeypatch.setattr(passwords.HashingQueue, "run", noting)',
        'from identity.users import passwords as ours\nmock.patch.object(ours, "verify")',
        'monkeypatch.setattr(f"interaction.journeys.second_factor.starting.sessions.{step}", broken)',
        'monkeypatch.setattr(whatever, "name", 1)',
        'assert found == ["database.E005"]',
    ],
)
def test_a_patch_of_what_exists_is_right(right):
    assert patches.faults(right) == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            'monkeypatch.setattr("identity.users.passwords.verified", broken)',
            "1: there is no identity.users.passwords.verified",
        ),
        ('mock.patch("identity.people.passwords.verify")', "1: there is no identity.people.passwords.verify"),
        (
            'PLACES = {"/me": "oidc.provider.views.user._get_token"}',
            "1: there is no oidc.provider.views.user._get_token",
        ),
        (
            'monkeypatch.setattr(f"interaction.journeys.sign_on.sessions.{step}", broken)',
            "1: there is no interaction.journeys.sign_on.sessions",
        ),
        (
            'from identity.users import passwords\nmonkeypatch.setattr(passwords, "_queued", full)',
            "2: there is no identity.users.passwords._queued",
        ),
        (
            'from identity.users import passwords\nmonkeypatch.setattr(passwords.HashingQueue, "ran", 1)',
            "2: there is no identity.users.passwords.HashingQueue.ran",
        ),
        (
            'from identity.users import passwords as ours\nmock.patch.object(ours, "verified")',
            "2: there is no identity.users.passwords.verified",
        ),
        (
            'monkeypatch.setattr(whatever, "name", 1, raising=False)',
            "1: raising=False passes where there is nothing to patch",
        ),
        (
            'mock.patch.object(whatever, "name", create=True)',
            "1: create=True passes where there is nothing to patch",
        ),
    ],
)
def test_a_patch_of_what_does_not_exist_is_found(wrong, said):
    assert patches.faults(wrong) == [said]
