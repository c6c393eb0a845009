"""What a thief of an administrator's password leaves behind to return after it was replaced (AP20)."""

import secrets
from io import StringIO

import pytest
from django.core import mail as django_mail
from django.core.management import CommandError, call_command
from django.test import Client

from audit.models import Entry
from management.administrators import invitations, mail, passkeys, recovery
from management.administrators import services as administrators
from management.administrators.models import Administrator, Invitation, ProviderAccount
from tests.support import operators
from tests.support.administrator_tokens import is_unknown, me, sign_in
from tests.support.cast import PASSWORD

pytestmark = pytest.mark.usefixtures("default_tenant")
NEW_PASSWORD = "a new and better password"


@pytest.fixture
def who():
    """An administrator of whom a thief knows the password, and has proven an email with it."""
    email = f"{secrets.token_hex(5)}@thief.example"
    who = operators.administrator(email=email)
    Administrator.objects.filter(pk=who.pk).update(proven_email=email)
    who.refresh_from_db()
    return who


@pytest.fixture
def sent(settings):
    """Return the mails that were sent since."""
    settings.EMAIL_HOST, settings.DEFAULT_FROM_EMAIL = "mail.example.com", "gatehouse@example.com"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"

    def get():
        mail.EXECUTOR.submit(lambda: None).result()
        messages, django_mail.outbox = django_mail.outbox, []
        return messages

    get()
    return get


@pytest.fixture(autouse=True)
def typed(monkeypatch):
    monkeypatch.setattr("getpass.getpass", lambda **_: NEW_PASSWORD)


def replace_as_another(who):
    fields = {"password": NEW_PASSWORD, "current_password": PASSWORD}
    administrators.change(Administrator.objects.get(pk=who.pk), fields, by=operators.administrator())


def replace_by_command(who):
    call_command("changepassword", who.username, stdout=StringIO())


def recover(who):
    recovery.set_password(who.pk, state=recovery.get_state(who), password=NEW_PASSWORD)


@pytest.mark.parametrize("replace", [replace_as_another, replace_by_command])
def test_attack_AP20_the_thiefs_email_gets_no_link_after_the_password_was_replaced(who, sent, replace):
    before = Client().post("/admin/recover/", {"email": who.email})
    links = sent()

    replace(who)
    Client().post("/admin/recover/", {"email": who.email})

    assert (before.status_code, [message.to for message in links]) == (200, [[who.email]])
    assert sent() == []
    assert not Administrator.objects.get(pk=who.pk).has_proven_email


@pytest.mark.parametrize("replace", [replace_as_another, replace_by_command, recover])
def test_attack_AP20_nor_does_the_thiefs_invitation_stay(who, replace):
    invited = invitations.invite(
        email=f"{secrets.token_hex(5)}@thief.example", is_superuser=True, by=who, current_password=PASSWORD
    )
    who.refresh_from_db()

    replace(who)

    path = invited.link[invited.link.index("/admin/invitation/") :]
    assert Client().get(path).status_code == 410
    assert not Invitation.objects.filter(invited_by=who).exists()
    assert Entry.objects.filter(key="Invitation.Delete", payload__id=str(invited.invitation.pk)).exists()


@pytest.mark.parametrize("taken", [{"is_superuser": False}, {"role": "auditor"}], ids=str)
def test_attack_AP20_an_invitation_stays_ended_when_lost_rights_are_given_back(who, taken):
    invited = invitations.invite(
        email=f"{secrets.token_hex(5)}@x.example", is_superuser=True, by=who, current_password=PASSWORD
    )

    administrators.change(who, taken)
    administrators.change(who, {"is_superuser": True, "role": "administrator"})

    path = invited.link[invited.link.index("/admin/invitation/") :]
    assert Client().get(path).status_code == 410


class TestTheCommand:
    def test_attack_AP20_it_ends_all_that_the_site_ends(self, who, address):
        account = ProviderAccount.objects.create(
            administrator=who, issuer="https://sso.example", subject=secrets.token_hex(8)
        )
        token = sign_in(username=who.username, password=PASSWORD).json()["result"]["access_token"]
        state = recovery.get_state(who)
        removed: list[Administrator] = []
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(passkeys, "remove_without_notice", removed.append)
            replace_by_command(who)

        is_unknown(me(token))
        assert sign_in(username=who.username, password=NEW_PASSWORD).status_code == 200
        assert removed == [who]
        assert not ProviderAccount.objects.filter(pk=account.pk).exists()
        with pytest.raises(recovery.LinkEnded):
            recovery.set_password(who.pk, state=state, password="the thief's own words")

    def test_attack_AP20_it_writes_what_it_did(self, who):
        replace_by_command(who)

        entry = Entry.objects.filter(key="Administrator.Update", payload__username=who.username).latest(
            "created_at"
        )
        assert (entry.payload["by"], entry.payload["fields"]) == ("command", ["password"])

    def test_attack_AP20_a_superuser_of_the_command_line_is_in_the_log_too(self, monkeypatch):
        name = f"op-{secrets.token_hex(4)}"
        monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", NEW_PASSWORD)

        call_command("createsuperuser", username=name, interactive=False, stdout=StringIO())

        entry = Entry.objects.get(key="Administrator.Create", payload__username=name)
        assert (entry.payload["by"], entry.payload["values"]["is_superuser"]) == ("command", True)

    def test_it_refuses_an_unknown_name(self, address):
        with pytest.raises(CommandError, match="there is no administrator"):
            call_command("changepassword", "nobody-of-this-name", stdout=StringIO())

    def test_it_refuses_passwords_that_differ_or_break_a_rule(self, who, monkeypatch):
        typed = iter(["one password", "another password", "short", "short", "short", "short"])
        monkeypatch.setattr("getpass.getpass", lambda **_: next(typed))

        with pytest.raises(CommandError, match="stays as it is"):
            call_command("changepassword", who.username, stdout=StringIO(), stderr=StringIO())

        assert Administrator.objects.get(pk=who.pk).check_password(PASSWORD)
