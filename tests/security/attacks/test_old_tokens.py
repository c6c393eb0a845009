"""An old stolen token or session of an administrator, which gets round the proof of M47 (AP47).

Here: applications that use the management API, and the console. See also ``test_old_tokens_and_factors``,
``test_old_tokens_and_codes`` and ``test_old_tokens_and_demands``.
"""

import secrets

import pytest

from identity.users.models import User
from interaction.connectors.models import Connector
from interaction.experience import services as experience
from oidc.applications.models import ApplicationRole, ApplicationSecret
from tests.support import codes, management, operators
from tests.support.admin_pages import operate
from tests.support.factors import switch_on
from tests.support.management import result_of
from tests.support.old_tokens import is_refused
from tests.support.operators import hidden_fields
from tests.support.site_sessions import age

EMAIL = "EmailVerificationCode"


@pytest.fixture
def acme(acme):
    return codes.reachable(acme)


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


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
