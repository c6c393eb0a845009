"""A thief of an administrator's password links an account for single sign-on, to stay (AW10)."""

from typing import Any

import pytest
from django.core import mail as django_mail
from django.test import Client

from audit.models import Entry
from management.administrators import mail, recovery, single_sign_on
from management.administrators import services as administrators
from management.administrators.models import Administrator
from tests.support import operators
from tests.support.cast import PASSWORD, new_secret
from tests.support.operators import text_of
from tests.support.single_sign_on import (
    CALLBACK,
    OWN,
    approve,
    get_linked_accounts,
    is_signed_in,
    link,
    set_provider,
    sign_in,
)

pytestmark = pytest.mark.usefixtures("default_tenant")
NEW_PASSWORD = "a new and better password"


@pytest.fixture(autouse=True)
def configured_provider(settings: Any, provider: Any) -> None:
    set_provider(settings, provider)


@pytest.fixture
def who() -> Administrator:
    return operators.administrator()


def recover(victim: Administrator) -> None:
    recovery.set_password(victim.pk, state=recovery.get_state(victim), password=NEW_PASSWORD)


def change_as_another(victim: Administrator) -> None:
    root = operators.administrator()
    fields = {"password": NEW_PASSWORD, "current_password": PASSWORD}
    administrators.change(victim, fields, by=root)


@pytest.mark.parametrize("replace", [recover, change_as_another])
def test_attack_AW10_a_replaced_password_ends_what_the_old_one_linked(
    provider: Any, who: Administrator, replace: Any
) -> None:
    link(provider, who, sub := new_secret())
    thief, _ = sign_in(provider, sub)
    assert is_signed_in(thief)
    who.refresh_from_db()

    replace(who)

    assert not is_signed_in(thief)
    again, _ = sign_in(provider, sub)
    assert not is_signed_in(again)
    entry = Entry.objects.filter(key="ProviderAccount.Delete", payload__subject=sub).get()
    assert entry.payload["username"] == who.username


@pytest.mark.parametrize("replace", [recover, change_as_another])
def test_attack_AW10_a_link_under_way_does_not_survive_it_either(
    provider: Any, who: Administrator, replace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The callback reads the session, then asks the provider, which a thief can make slow."""
    thief = Client()
    thief.force_login(who)
    sent = thief.post(OWN, {"password": PASSWORD})
    answer = approve(provider, sent.headers["Location"], sub := new_secret())

    def slow(*arguments: Any) -> Any:
        person = finish(*arguments)
        who.refresh_from_db()
        replace(who)
        return person

    finish = single_sign_on.finish
    monkeypatch.setattr(single_sign_on, "finish", slow)
    thief.get(CALLBACK, answer)
    monkeypatch.undo()

    assert get_linked_accounts(who) == []
    again, _ = sign_in(provider, sub)
    assert not is_signed_in(again)


def test_an_own_new_password_and_other_changes_keep_the_account(provider: Any, who: Administrator) -> None:
    browser = link(provider, who, sub := new_secret())
    changed = browser.post("/admin/password/", {"current": PASSWORD, "password": NEW_PASSWORD})
    assert changed.status_code == 303, text_of(changed)
    who.refresh_from_db()
    administrators.change(who, {"email": "new@example.com"}, by=operators.administrator())

    again, _ = sign_in(provider, sub)

    assert is_signed_in(again)


@pytest.mark.parametrize("is_proven", [True, False])
def test_attack_AW10_the_owner_hears_of_a_link(
    provider: Any, who: Administrator, settings: Any, is_proven: bool
) -> None:
    settings.EMAIL_HOST, settings.DEFAULT_FROM_EMAIL = "mail.example.com", "gatehouse@example.com"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    django_mail.outbox = []
    email = f"{new_secret()[:8].lower()}@example.com"
    Administrator.objects.filter(pk=who.pk).update(email=email, proven_email=email if is_proven else None)

    link(provider, who, new_secret())

    mail.EXECUTOR.submit(lambda: None).result()
    notices = [(message.to, who.username in message.body) for message in django_mail.outbox]
    assert notices == ([([email], True)] if is_proven else [])
    assert all(provider.issuer in message.body for message in django_mail.outbox)
