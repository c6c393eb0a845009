"""Which refresh families are live, and how targets are shown."""

from datetime import UTC, datetime, timedelta

import pytest

from identity.users.models import User
from oidc.grants.models import ConsentTarget, RefreshFamily
from tests.support.grant_rows import new_family, new_session


@pytest.mark.parametrize(
    ("family", "user", "is_live"),
    [
        ({}, {}, True),
        ({"ended_at": datetime.now(UTC)}, {}, False),
        ({"idle_expires_at": datetime.now(UTC) - timedelta(seconds=1)}, {}, False),
        ({"expires_at": datetime.now(UTC) - timedelta(seconds=1)}, {}, False),
        ({}, {"is_suspended": True}, False),
        ({}, {"epoch": 7}, False),
    ],
)
def test_a_family_is_live_until_one_thing_ends_it(acme, family, user, is_live):
    person, application = acme.user(), acme.application().application
    with acme.active():
        row = new_family(application, new_session(person), **family)
        User.objects.filter(pk=person.pk).update(**user)

        assert RefreshFamily.objects.live().filter(pk=row.pk).exists() is is_live


@pytest.mark.parametrize("kind", ["resource_id", "organization_id"])
def test_a_target_is_shown_with_its_api_or_organization(acme, kind):
    with acme.active():
        row = ConsentTarget(consent_id="of", **{kind: "this"})

    assert str(row) == "of this"
