"""AV43: a user linked accounts without end, and the account page showed all of them."""

from typing import Any

import pytest

from identity.users import assigned_passwords
from identity.users.models import User
from interaction.connectors.models import Connector
from interaction.connectors.providers.base import Profile
from interaction.social import services as identities
from interaction.social.models import SocialIdentity
from tests.support import social
from tests.support.audit_log import entries
from tests.support.cast import World
from tests.support.many_rows import multiply
from tests.support.openid import OpenIDProvider
from tests.support.social_linking import begin_link

MOST = 50
MANY = 3_000
PAGE = "/account/linked"


@pytest.fixture
def connector(acme: World, provider: OpenIDProvider) -> Connector:
    return social.connect(acme, provider.config)


def fill(world: World, user: User, connector: Connector, number: int) -> None:
    """Give a user this number of linked accounts."""
    with world.active():
        profile = Profile(provider="https://elsewhere.example", subject="1")
        multiply(identities.link(user, profile, connector, "Elsewhere"), number - 1, "fingerprint", "subject")


def count(world: World, user: User) -> int:
    with world.active():
        return SocialIdentity.objects.filter(user=user).count()


def link(world: World, user: User, connector: Connector, subject: str) -> Any:
    with world.active():
        profile = Profile(provider="https://elsewhere.example", subject=subject)
        return identities.link_and_notify(user, profile, connector, "Elsewhere")


def test_attack_AV43_a_fifty_first_account_is_refused(acme, connector):
    user, other = acme.user(), acme.user()
    fill(acme, user, connector, MOST - 1)

    link(acme, user, connector, "the last")
    with pytest.raises(identities.TooManyLinkedAccounts, match="at most 50 linked accounts"):
        link(acme, user, connector, "one more")

    assert count(acme, user) == MOST
    link(acme, user, connector, "the last")  # an account that is linked stays so
    assert link(acme, other, connector, "one more").user_id == other.pk


def test_attack_AV43_the_page_names_the_limit(acme, provider, connector):
    browser, user = acme.browser(), acme.user()
    browser.sign_in(user)
    fill(acme, user, connector, MOST)

    page = social.back(browser, begin_link(browser, provider))

    assert page.status_code == 400
    assert "You can connect at most 50 accounts. Disconnect one first." in page.text
    assert count(acme, user) == MOST
    assert entries(acme, "SocialIdentity.Create")[-1].payload["error"] == "too_many_linked_accounts"


def test_attack_AV43_removing_all_writes_no_entry_and_no_notice_for_each(acme, connector, monkeypatch):
    notices: list[Any] = []
    monkeypatch.setattr(identities, "notify", lambda *_, **facts: notices.append(facts))
    user = acme.user()
    fill(acme, user, connector, MANY)

    with acme.active():
        assigned_passwords.set_password(user, "c0rrect horse battery", remove_others=True, is_proven=True)

    assert count(acme, user) == 0
    found = entries(acme, "SocialIdentity.Delete")
    assert len(found) == MOST + 1
    assert sum(entry.payload.get("count", 1) for entry in found) == MANY
    assert notices == [{"provider": "Elsewhere"}]
