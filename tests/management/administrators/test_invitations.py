"""Invitations of administrators: by mail or by a shown link, once, and never beyond the inviter's rights."""

import re
import secrets
from smtplib import SMTPRecipientsRefused

import httpx
import pytest
from django.conf import settings
from django.core import mail as django_mail
from django.test import Client

from audit.models import Entry
from database.clock import seconds_ahead
from management.administrators import invitations, mail, proof, services
from management.administrators.invitation_tokens import hash_token
from management.administrators.models import Administrator, Invitation, Role
from tests.support import in_process, operators
from tests.support.cast import PASSWORD
from tests.support.operators import Operator, text_of
from tests.support.threads import at_once

pytestmark = pytest.mark.usefixtures("default_tenant")
PAGE = "/admin/invitation/"


@pytest.fixture
def mail_server(settings):
    settings.EMAIL_HOST = "mail.example.com"
    settings.DEFAULT_FROM_EMAIL = "gatehouse@example.com"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    django_mail.outbox = []
    return django_mail.outbox


@pytest.fixture
def inviter():
    return operators.administrator()


def new_email():
    return f"{secrets.token_hex(5)}@example.com"


def invite(by, **fields):
    fields.setdefault("email", new_email())
    return invitations.invite(**fields, by=by, current_password=PASSWORD)


def token_of(link):
    (token,) = set(re.findall(r"/admin/invitation/([\w-]{43})/", link))
    return token


def sent(mail_server):
    """The mails that were sent, when the thread that sends them is done."""
    mail.EXECUTOR.submit(lambda: None).result()
    return list(mail_server)


def refuse(*_, **__):
    raise SMTPRecipientsRefused({})


def hash_of(link):
    return hash_token(token_of(link))


def accept(link, **typed):
    """Open the link in a new browser and send the form."""
    browser = Client(SERVER_NAME="127.0.0.1")
    followed = browser.get(f"{PAGE}{token_of(link)}/")
    assert (followed.status_code, followed.headers["Location"]) == (302, PAGE)
    fields = {"username": f"a-{secrets.token_hex(4)}", "password": PASSWORD} | typed
    return browser, browser.post(PAGE, fields)


class TestALink:
    def test_without_a_mail_server_is_shown_and_proves_no_email(self, inviter):
        invited = invite(inviter, role=Role.AUDITOR)

        browser, answer = accept(invited.link, username=(name := f"a-{secrets.token_hex(4)}"))

        made = Administrator.objects.get(username=name)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/admin/")
        assert browser.get("/admin/tenant/").status_code == 200
        assert (made.role, made.is_superuser, made.email) == (
            "auditor",
            False,
            invited.invitation.email,
        )
        assert not made.has_proven_email

    def test_by_mail_is_shown_to_nobody_and_proves_the_email(self, inviter, mail_server):
        invited = invite(inviter)

        (message,) = sent(mail_server)
        _, answer = accept(message.body, username=(name := f"a-{secrets.token_hex(4)}"))

        assert (invited.link, message.to) == ("", [invited.invitation.email])
        assert answer.status_code == 303
        assert Administrator.objects.get(username=name).has_proven_email

    def test_gives_the_tenants_of_the_invitation_and_no_others(self, acme, rival, inviter):
        invited = invite(inviter, tenants=[acme.tenant.slug])

        accept(invited.link, username=(name := f"a-{secrets.token_hex(4)}"))

        made = Administrator.objects.get(username=name)
        assert [tenant.pk for tenant in made.tenants.all()] == [acme.tenant.pk]

    @pytest.mark.parametrize(("language", "separator"), [("en", ", "), ("ar", "، "), ("ja", "、")])
    def test_lists_its_tenants_with_the_separator_of_the_language(
        self, acme, rival, inviter, language, separator
    ):
        token = token_of(invite(inviter, tenants=[acme.tenant.slug, rival.tenant.slug]).link)
        browser = Client(headers={"Accept-Language": language})
        browser.get(f"{PAGE}{token}/")

        names = [acme.tenant.name, rival.tenant.name]

        shown = text_of(browser.get(PAGE))
        assert separator.join(names) in shown or separator.join(reversed(names)) in shown

    def test_is_not_stored(self, inviter):
        invited = invite(inviter)

        row = Invitation.objects.filter(pk=invited.invitation.pk).values_list().get()
        assert token_of(invited.link) not in str(row)

    def test_leaves_its_token_out_of_the_page_and_of_the_session(self, inviter):
        token = token_of(invite(inviter).link)
        browser = Client()

        browser.get(f"{PAGE}{token}/")

        assert token not in text_of(browser.get(PAGE))
        assert token not in str(dict(browser.session))

    def test_ends_the_session_of_another_administrator_in_this_browser(self, inviter):
        browser = Client()
        browser.force_login(inviter)
        link = invite(inviter).link
        browser.get(f"{PAGE}{token_of(link)}/")
        assert f"signed in as {inviter.username}" in text_of(browser.get(PAGE))

        browser.post(PAGE, {"username": (name := f"a-{secrets.token_hex(4)}"), "password": PASSWORD})

        made = Administrator.objects.get(username=name)
        assert browser.session["_auth_user_id"] == str(made.pk)

    def test_is_used_up(self, inviter):
        link = invite(inviter).link
        accept(link)

        assert Client().get(f"{PAGE}{token_of(link)}/").status_code == 410

    @pytest.mark.parametrize("token", ["x", "%00", "ä" * 50, "A" * 3000])
    def test_that_is_unknown_opens_nothing(self, token):
        answer = Client().get(f"{PAGE}{token}/")

        assert answer.status_code == 410
        assert not answer.cookies

    def test_works_for_three_days(self, inviter):
        link = invite(inviter).link
        Invitation.objects.filter(token_hash=hash_of(link)).update(expires_at=seconds_ahead(-1))

        assert Client().get(f"{PAGE}{token_of(link)}/").status_code == 410

    def test_survives_a_form_with_mistakes(self, inviter):
        link = invite(inviter).link

        browser, taken = accept(link, username=inviter.username)
        empty = browser.post(PAGE, {"username": "", "password": ""})
        spaced = browser.post(PAGE, {"username": "two words", "password": PASSWORD})
        right = browser.post(PAGE, {"username": f"a-{secrets.token_hex(4)}", "password": PASSWORD})

        assert (taken.status_code, empty.status_code, spaced.status_code) == (400, 400, 400)
        assert "already exists" in text_of(taken)
        assert right.status_code == 303

    def test_that_is_accepted_twice_at_once_makes_one_administrator(self, inviter):
        link = invite(inviter).link

        def use():
            try:
                return invitations.accept(
                    hash_of(link), username=f"a-{secrets.token_hex(4)}", password=PASSWORD
                )
            except invitations.InvitationEnded:
                return None

        made = [one for one in at_once(4, lambda _: use()) if one is not None]
        assert len(made) == 1

    def test_with_required_two_step_leads_to_its_set_up(self, inviter, settings):
        settings.ADMIN_TWO_STEP = "required"

        browser, answer = accept(invite(inviter).link)

        assert browser.get(answer.headers["Location"]).headers["Location"] == "/admin/two-step/"
        assert browser.get("/admin/two-step/").status_code == 200  # the password was just chosen


class TestTheInviter:
    def test_needs_a_proof(self, inviter):
        with pytest.raises(proof.NotProven):
            invitations.invite(email=new_email(), by=inviter, current_password="wrong")
        with pytest.raises(proof.ProofNeeded):
            invitations.invite(email=new_email(), by=inviter)

    @pytest.mark.parametrize("fields", [{"is_superuser": False}, {"role": "auditor"}, {"role": "support"}])
    def test_who_loses_rights_takes_the_invitation_along(self, inviter, fields):
        link = invite(inviter, is_superuser=True).link

        services.change(inviter, fields)

        assert Client().get(f"{PAGE}{token_of(link)}/").status_code == 410
        with pytest.raises(invitations.InvitationEnded):
            invitations.accept(hash_of(link), username="x", password=PASSWORD)

    def test_who_is_demoted_while_the_form_is_open_takes_the_invitation_along(self, inviter):
        link = invite(inviter, is_superuser=True).link
        browser = Client()
        browser.get(f"{PAGE}{token_of(link)}/")

        services.change(inviter, {"role": "auditor"})
        answer = browser.post(PAGE, {"username": f"a-{secrets.token_hex(4)}", "password": PASSWORD})

        assert answer.status_code == 410

    def test_who_is_deleted_takes_the_invitation_along(self, inviter):
        link = invite(inviter).link

        services.remove(inviter)

        assert not Invitation.objects.filter(token_hash=hash_of(link)).exists()

    def test_cannot_revoke_by_inviting_again(self, inviter):
        first = invite(inviter)

        with pytest.raises(invitations.AlreadyInvited):
            invite(inviter, email=first.invitation.email.upper())

        assert Client().get(f"{PAGE}{token_of(first.link)}/").status_code == 302

    def test_invites_again_after_the_first_invitation_expired(self, inviter):
        first = invite(inviter).invitation
        Invitation.objects.filter(pk=first.pk).update(expires_at=seconds_ahead(-1))

        assert invite(inviter, email=first.email).link

    def test_revokes(self, inviter):
        invited = invite(inviter)

        invitations.revoke(invited.invitation, by=inviter)

        assert Client().get(f"{PAGE}{token_of(invited.link)}/").status_code == 410

    def test_sends_again_with_a_new_link(self, inviter):
        first = invite(inviter)

        again = invitations.renew(first.invitation, by=inviter, current_password=PASSWORD)

        assert Client().get(f"{PAGE}{token_of(first.link)}/").status_code == 410
        assert accept(again.link)[1].status_code == 303

    def test_finds_an_invitation_that_the_mail_server_refused_and_sends_it_again(
        self, inviter, mail_server, monkeypatch
    ):
        with monkeypatch.context() as refusing:
            refusing.setattr("django.core.mail.EmailMessage.send", refuse)
            refused = invite(inviter)
            invitation = refused.invitation
            assert sent(mail_server) == []

        invitation.refresh_from_db()
        assert (invitation.is_mailed, invitation.is_refused) == (False, True)
        assert token_of(refused.link)
        invitations.renew(invitation, by=inviter, current_password=PASSWORD)

        (message,) = sent(mail_server)
        invitation.refresh_from_db()
        assert (invitation.is_mailed, invitation.is_refused) == (True, False)
        assert accept(message.body)[1].status_code == 303


def test_the_log_says_who_invited_whom_and_has_no_link(inviter):
    invited = invite(inviter)
    accept(invited.link, username=(name := f"a-{secrets.token_hex(4)}"))

    pk = str(invited.invitation.pk)
    entries = list(Entry.objects.filter(key__startswith="Invitation.", payload__id=pk))
    made = Entry.objects.get(key="Administrator.Create", payload__username=name)
    assert {entry.key for entry in entries} == {"Invitation.Create", "Invitation.Accept"}
    assert made.payload["invited_by"] == inviter.pk
    assert token_of(invited.link) not in str([entry.payload for entry in [*entries, made]])


class TestTheSite:
    def test_shows_the_link_once_and_lists_who_invited_until_when(self, acme, inviter):
        browser = operators.at(acme, inviter)
        page = "/admin/administrators/administrator/do/invite/"
        email = new_email()

        made = browser.submit(page, email=email, role="auditor", current_password=PASSWORD)

        shown = text_of(browser.get(made.headers["Location"]))
        assert made.status_code == 303, text_of(made)
        assert token_of(shown)
        listed = text_of(browser.get("/admin/administrators/invitation/"))
        assert email in listed
        assert inviter.username in listed

    def test_names_the_page_after_the_link(self, acme, inviter):
        browser = operators.at(acme, inviter)
        path = "/admin/administrators/invitation/do/create/"

        made = browser.submit(path, email=new_email(), role="auditor", current_password=PASSWORD)
        shown = text_of(browser.get(made.headers["Location"]))

        assert "<h1>Invitation link</h1>" in shown
        assert "This link won't be shown again." in shown
        assert "secret" not in re.sub(r"<[^>]*>", "", shown)

    def test_says_that_the_mail_server_refused_and_shows_a_link(
        self, acme, inviter, mail_server, monkeypatch
    ):
        http = in_process.new_client()
        http.base_url = httpx.URL(settings.BASE_URL)
        browser = Operator(inviter, http=http)
        browser.sign_in()
        browser.choose(acme)
        monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)
        path, email = "/admin/administrators/invitation/do/create/", new_email()

        made = browser.submit(path, email=email, role="auditor", current_password=PASSWORD)
        page = text_of(browser.get(made.headers["Location"]))
        (button,) = re.findall(r'<a class="button" href="([^"]*/do/link/)">Show link</a>', page)
        shown = text_of(browser.get(browser.submit(button, current_password=PASSWORD).headers["Location"]))
        after = text_of(browser.get(made.headers["Location"]))
        _, accepted = accept(shown, username=(name := f"a-{secrets.token_hex(4)}"))

        assert "The mail server did not accept the invitation." in page
        assert '<span class="badge bad">Not sent</span>' in page
        assert "on its way" not in page
        assert "did not accept" not in after
        assert accepted.status_code == 303
        assert not Administrator.objects.get(username=name).has_proven_email

    @pytest.mark.parametrize(
        "rights", [{"tenants": ["acme"]}, {"role": "auditor"}, {"role": "support"}], ids=str
    )
    def test_lets_only_administrators_of_every_tenant_invite(self, acme, rights):
        if "tenants" in rights:
            rights = {"tenants": [acme.tenant.slug]}
        browser = operators.at(acme, operators.administrator(**rights))

        answer = browser.get("/admin/administrators/invitation/do/create/")

        assert answer.status_code == 403
