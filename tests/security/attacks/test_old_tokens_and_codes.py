"""An old stolen token of an administrator, which has the codes of second factors sent elsewhere (AP47)."""

import pytest

from identity.users.models import User
from interaction.connectors.models import Connector
from tests.support import codes, management, operators
from tests.support.factors import switch_on
from tests.support.management import result_of
from tests.support.old_tokens import is_refused, new_recent, new_thief
from tests.support.site_sessions import age

EMAIL, PHONE = "EmailVerificationCode", "PhoneVerificationCode"


@pytest.fixture
def acme(acme):
    return codes.reachable(acme)


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


@pytest.fixture
def thief(acme):
    return new_thief(acme)


@pytest.fixture
def recent(acme):
    return new_recent(acme)


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

    def test_attack_AP47_an_old_token_does_not_have_an_earlier_connector_send_them(self, acme, thief, path):
        """Codes go through the newest enabled connector."""
        session = operators.at(acme)
        age(session)
        page = f"/admin/connectors/connector/{path.rpartition('/')[2]}/do"

        assert is_refused(thief.patch(path, enabled=False))
        assert is_refused(thief.delete(path))
        for operation in ("disable", "delete"):
            asked = session.get(f"{page}/{operation}/").headers.get("Location", "")
            assert asked.startswith("/admin/confirm/")
