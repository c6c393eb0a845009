"""An old stolen token or session of an administrator, which gets round the proof of M47 (AP47)."""

import secrets
import time
from typing import Any

import pytest
import time_machine
from django.conf import settings

from identity.factors.policy import Prompt
from identity.users.models import User
from interaction.connectors.models import Connector
from interaction.experience import services as experience
from interaction.experience import weaker_factors
from management.administrators import tokens
from oidc.applications.models import ApplicationRole, ApplicationSecret
from tests.support import codes, management, operators
from tests.support.admin_pages import operate
from tests.support.factors import switch_on
from tests.support.management import refusal_of, result_of
from tests.support.operators import hidden_fields
from tests.support.site_sessions import age

SECONDS = settings.ADMIN_PROOF_SECONDS
MESSAGE = f"sign in again: this needs a token that is at most {SECONDS} seconds old"


@pytest.fixture
def acme(acme):
    return codes.reachable(acme)


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


def caller_of_age(acme, seconds):
    who = operators.administrator(tenants=[acme.tenant.slug])
    with time_machine.travel(time.time() - seconds):
        token = tokens.issue(who)
    return management.Caller(acme, token)


@pytest.fixture
def thief(acme):
    return caller_of_age(acme, SECONDS + 60)


@pytest.fixture
def recent(acme):
    return caller_of_age(acme, SECONDS - 600)


def application(caller):
    return caller.created("/applications", name=f"x {secrets.token_hex(4)}", type="MachineToMachine")["id"]


def role(admin, *scope_ids, kind="MachineToMachine"):
    made = admin.created("/roles", name=f"r {secrets.token_hex(4)}", type=kind)["id"]
    result_of(admin.put(f"/roles/{made}/scopes", scope_ids=list(scope_ids)))
    return made


def management_scope(admin, name="all"):
    resources = result_of(admin.get("/resources", page_size=100))["data"]
    resource = next(one["id"] for one in resources if one["indicator"].startswith("urn:service:management"))
    scopes = result_of(admin.get(f"/resources/{resource}/scopes"))
    return next(one["id"] for one in scopes if one["name"] == name)


def own_scope(admin):
    resource = management.new_resource(admin)
    return admin.created(f"/resources/{resource}/scopes", name="read:notes")["id"]


def is_refused(answer):
    return refusal_of(answer, 403) == MESSAGE


class TestApplications:
    def test_attack_AP47_an_old_token_makes_no_application_of_the_management_api(self, acme, thief, recent):
        made, built_in = application(thief), management.management_role(acme)
        path = f"/applications/{made}/roles"

        assert is_refused(thief.put(path, role_ids=[built_in]))
        with acme.active():
            assert not ApplicationRole.objects.exists()

        result_of(recent.put(path, role_ids=[built_in]))
        result_of(thief.put(path, role_ids=[built_in]))  # nothing is added
        result_of(thief.put(path, role_ids=[]))

    def test_attack_AP47_other_roles_need_no_proof(self, admin, thief):
        made = application(thief)

        result_of(thief.put(f"/applications/{made}/roles", role_ids=[role(admin, own_scope(admin))]))

    @pytest.mark.parametrize("name", ["all", "manage:organizations"])
    def test_attack_AP47_nor_does_it_add_a_scope_to_a_role_of_machines(self, admin, thief, recent, name):
        scope, own = management_scope(admin, name), own_scope(admin)
        held = role(admin, own)
        path = f"/roles/{held}/scopes"

        assert is_refused(thief.put(path, scope_ids=[own, scope]))
        assert [one["id"] for one in result_of(admin.get(path))] == [own]

        result_of(recent.put(path, scope_ids=[own, scope]))
        result_of(thief.put(path, scope_ids=[scope]))
        result_of(thief.put(f"/roles/{role(admin)}/scopes", scope_ids=[own]))
        result_of(thief.put(f"/roles/{role(admin, kind='User')}/scopes", scope_ids=[scope]))

    def test_attack_AP47_nor_does_it_get_a_secret(self, acme, admin, thief, recent):
        robot = f"/applications/{management.machine(acme).id}"

        assert is_refused(thief.post(f"{robot}/secrets", name="mine"))
        assert is_refused(thief.post(f"{robot}/secret"))
        with acme.active():
            assert not ApplicationSecret.objects.exists()

        result_of(recent.post(f"{robot}/secrets", name="mine"))
        result_of(recent.post(f"{robot}/secret"))
        other = f"/applications/{application(admin)}"
        result_of(thief.post(f"{other}/secrets", name="mine"))
        result_of(thief.post(f"{other}/secret"))

    def test_attack_AP47_an_application_proves_itself(self, acme):
        robot = management.machine(acme)
        made = application(robot)
        path = f"/applications/{made}"

        result_of(robot.put(f"{path}/roles", role_ids=[management.management_role(acme)]))
        result_of(robot.post(f"{path}/secrets", name="mine"))
        result_of(robot.post(f"{path}/secret"))


FACTORS = ["Totp", "BackupCode"]
WEAKER: list[dict[str, Any]] = [
    {"factors": [], "policy": "NoPrompt", "organization_required_mfa_policy": "NoPrompt"},
    {"factors": ["Totp"]},
    {"factors": ["WebAuthn", "BackupCode"]},
    {"factors": [*FACTORS, "EmailVerificationCode"]},
    {"factors": [*FACTORS, "PhoneVerificationCode"]},
    {"policy": "NoPrompt"},
    {"policy": "PromptAtSignInAndSignUp"},
    {"organization_required_mfa_policy": "NoPrompt"},
    {"social": "skip"},
]
LESS_OFTEN: list[dict[str, Any]] = [
    {"trusted_device_policy": {"enabled": True}},
    {"trusted_device_policy": {"enabled": True, "duration_days": 1}},
    {"adaptive_mfa": {"enabled": False}},
    {"adaptive_mfa": {"new_browser": False}},
    {"adaptive_mfa": {"new_country": False}},
    {"adaptive_mfa": {"inactive_days": 31}},
    {"adaptive_mfa": {"recent_failures": 6}},
    {"forgot_password_requires_factor": False},
]


class TestFactors:
    @pytest.fixture
    def strict(self, acme):
        rules = {"policy": "Mandatory", "organization_required_mfa_policy": "Mandatory"}
        switch_on(acme, *FACTORS, **rules)

        def read():
            with acme.active():
                return experience.current().mfa

        return read

    @pytest.mark.parametrize("change", WEAKER, ids=str)
    def test_attack_AP47_an_old_token_does_not_weaken_them(self, thief, strict, change):
        before = strict()

        assert is_refused(thief.patch("/sign-in-experience", mfa=change))
        assert strict() == before

    @pytest.mark.parametrize("change", LESS_OFTEN, ids=str)
    def test_attack_AP47_nor_does_it_let_them_be_skipped(self, admin, thief, recent, strict, change):
        result_of(admin.patch("/sign-in-experience", adaptive_mfa={"enabled": True}))
        before = result_of(admin.get("/sign-in-experience"))

        assert is_refused(thief.patch("/sign-in-experience", **change))
        assert result_of(admin.get("/sign-in-experience")) == before

        result_of(recent.patch("/sign-in-experience", **change))
        result_of(thief.patch("/sign-in-experience", **change))  # nothing is changed

    def test_attack_AP47_nor_does_it_remember_browsers_for_longer(self, admin, thief, strict):
        on = {"enabled": True, "duration_days": 7}
        result_of(admin.patch("/sign-in-experience", trusted_device_policy=on))

        assert is_refused(thief.patch("/sign-in-experience", trusted_device_policy={"duration_days": 8}))
        for less in ({"duration_days": 6}, {"enabled": False}, {"duration_days": 365}):
            result_of(thief.patch("/sign-in-experience", trusted_device_policy=less))

    def test_attack_AP47_a_recent_one_does_and_so_does_an_application(self, acme, strict, recent):
        for caller in (recent, management.machine(acme)):
            result_of(caller.patch("/sign-in-experience", mfa={"policy": "NoPrompt", "social": "skip"}))
            result_of(caller.patch("/sign-in-experience", mfa={"policy": "Mandatory", "social": "ask"}))

    def test_attack_AP47_other_changes_need_no_proof(self, thief, strict):
        before = strict()
        stronger = {"factors": [*FACTORS, "WebAuthn"], "policy": "Mandatory", "social": "ask"}

        result_of(thief.patch("/sign-in-experience", mfa=before))
        result_of(thief.patch("/sign-in-experience", mfa=stronger))
        result_of(thief.patch("/sign-in-experience", password_policy={"min_length": 12}))
        result_of(thief.patch("/sign-in-experience", adaptive_mfa={"new_browser": False}))  # it is off
        asks_more = {"enabled": True, "new_browser": True, "inactive_days": 29, "recent_failures": 4}
        result_of(thief.patch("/sign-in-experience", adaptive_mfa=asks_more))
        result_of(thief.patch("/sign-in-experience", forgot_password_requires_factor=True))

    def test_attack_AP47_nor_do_the_first_factors_of_a_tenant(self, thief):
        first = {"factors": ["Totp", "EmailVerificationCode"]}

        result_of(thief.patch("/sign-in-experience", mfa=first, trusted_device_policy={"enabled": True}))

    def test_the_policies_are_ordered(self):
        assert weaker_factors._ORDER == (
            Prompt.NO_PROMPT,
            Prompt.AT_SIGN_IN,
            Prompt.AT_SIGN_IN_AND_SIGN_UP,
            Prompt.MANDATORY,
        )


EMAIL, PHONE = "EmailVerificationCode", "PhoneVerificationCode"


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


class TestConsole:
    """A session whose administrator proved the identity more than five minutes ago."""

    @pytest.fixture
    def operator(self, acme):
        return operators.at(acme)

    def is_asked(self, operator, path):
        age(operator)
        page = operator.get(path)
        return page.headers.get("Location", "").startswith("/admin/confirm/")

    def test_attack_AP47_it_opens_no_management_application(self, acme, admin, operator):
        robot, other = management.machine(acme).id, application(admin)
        own = f"/admin/roles/role/{role(admin, kind='User')}/do/scopes/"
        of_machines = f"/admin/roles/role/{role(admin)}/do/scopes/"

        for name, of_other in (("roles", True), ("secret", False), ("add-secret", False)):
            path = "/admin/applications/application/{}/do/{}/"
            assert self.is_asked(operator, path.format(robot, name))
            assert self.is_asked(operator, path.format(other, name)) == of_other
        assert self.is_asked(operator, of_machines)
        assert not self.is_asked(operator, own)

    def test_attack_AP47_it_changes_no_second_factors(self, acme, operator):
        with acme.active():
            pk = experience.current().pk
        path = f"/admin/experience/signinexperience/{pk}/do/factors/"

        assert self.is_asked(operator, path)

    @pytest.mark.parametrize("name", ["change", "verify"])
    def test_attack_AP47_it_moves_no_codes(self, acme, operator, name):
        user = acme.user(email=codes.new_email())
        path = f"/admin/users/user/{user.pk}/do/{name}/"

        assert not self.is_asked(operator, path)
        typed = hidden_fields(operator.get(path)) | {"email": "thief@evil.example"}
        switch_on(acme, "Totp", EMAIL)
        assert self.is_asked(operator, path)
        sent = operator.http.post(path, data=typed | {"email_verified": "on"})

        assert sent.headers["Location"].startswith("/admin/confirm/")
        with acme.active():
            now = User.objects.get(pk=user.pk)
            assert (now.email, now.email_verified) == (user.email, user.email_verified)

    @pytest.mark.parametrize("name", ["change", "enable"])
    def test_attack_AP47_it_changes_no_sender_of_codes(self, acme, operator, name):
        with acme.active():
            connector = Connector.objects.get(type="Email")
            Connector.objects.filter(pk=connector.pk).update(enabled=False)
        path = f"/admin/connectors/connector/{connector.pk}/do/{name}/"

        assert not self.is_asked(operator, path)
        switch_on(acme, "Totp", EMAIL)
        assert self.is_asked(operator, path)

    def test_a_recent_proof_is_enough(self, acme, operator):
        switch_on(acme, "Totp", EMAIL)
        user = acme.user(email=codes.new_email())

        done = operate(operator, "users/user", user, "change", email=codes.new_email())

        assert done.status_code == 303
