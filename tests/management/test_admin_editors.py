"""What operators edit on their site: by the services and the rules of the API, with nobody else's ids."""

import re

import pytest

from audit.models import Entry
from identity.organizations import members_admin
from identity.organizations.models import Membership, Organization, OrganizationPermission, OrganizationRole
from identity.resources.models import Resource, Scope
from identity.roles import services as roles
from identity.roles.models import Role
from interaction.connectors import services as connectors
from interaction.connectors.models import Connector
from interaction.experience import services as experiences
from oidc.applications import bindings
from tests.support import operators
from tests.support.admin_operations import read_text, submit_operation
from tests.support.operators import administrator

SECRET = "a-secret-of-a-provider"


def keys(world):
    return list(Entry.objects.filter(tenant_id=world.tenant.pk).order_by("id").values_list("key", flat=True))


class TestResources:
    def test_are_made_changed_given_scopes_and_deleted(self, acme, operator):
        made = submit_operation(
            operator,
            Resource,
            "create",
            name="Shop",
            indicator="https://shop.example",
            access_token_ttl="600",
        )
        with acme.active():
            shop = Resource.objects.get(indicator="https://shop.example")
        assert made.headers["Location"].endswith(f"/{shop.pk}/change/")

        submit_operation(
            operator, Resource, "change", shop, name="The shop", access_token_ttl="900", is_default="on"
        )
        submit_operation(operator, Resource, "add-scope", shop, name="read:orders", description="See orders")

        with acme.active():
            shop = Resource.objects.get(pk=shop.pk)
            scope = Scope.objects.get(resource=shop)
            assert (shop.name, shop.access_token_ttl, shop.is_default) == ("The shop", 900, True)
        assert "read:orders" in operator.get(f"/admin/resources/resource/{shop.pk}/change/").text
        submit_operation(operator, Scope, "delete", scope)
        submit_operation(operator, Resource, "delete", shop)
        assert keys(acme)[-5:] == [
            "Resource.Create", "Resource.Update", "Scope.Create", "Scope.Delete", "Resource.Delete",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("typed", "told"),
        [
            ({"indicator": "no uri"}, "must be an absolute URI"),
            ({"access_token_ttl": "5"}, "greater than or equal to 60"),
            ({"access_token_ttl": "x"}, "Enter a whole number"),
            ({"name": " \t "}, "This field is required"),
        ],
    )
    def test_rules_of_the_api_are_told_at_the_field(self, acme, operator, typed, told):
        fields = {"name": "Shop", "indicator": "https://shop.example", "access_token_ttl": "600", **typed}

        answer = submit_operation(operator, Resource, "create", **fields)

        assert answer.status_code == 400
        assert told in read_text(answer)
        assert 'class="errorlist"' in answer.text

    def test_the_management_api_stays(self, acme, operator):
        with acme.active():
            own = Resource.objects.get(is_protected=True)

        submit_operation(operator, Resource, "delete", own)
        answer = submit_operation(operator, Resource, "change", own, name="Mine", access_token_ttl="600")

        assert answer.status_code == 400
        with acme.active():
            assert Resource.objects.get(is_protected=True).name == "Management API"


class TestRoles:
    def test_are_made_and_hold_what_was_ticked(self, acme, operator):
        with acme.active():
            scope = Scope.objects.get(name="all")
        submit_operation(operator, Role, "create", name="Clerk", type="User", description="")
        with acme.active():
            clerk = Role.objects.get(name="Clerk")

        submit_operation(operator, Role, "scopes", clerk, scope_ids=[str(scope.pk)])
        with acme.active():
            held = list(roles.SCOPES.items_of(clerk.pk))
        submit_operation(operator, Role, "scopes", clerk, scope_ids=[])

        with acme.active():
            assert held == [scope]
            assert not roles.SCOPES.items_of(clerk.pk).exists()

    def test_another_tenant_s_scope_is_no_choice(self, acme, rival, operator):
        submit_operation(operator, Role, "create", name="Clerk", type="User", description="")
        with rival.active():
            foreign = Scope.objects.get(name="all")
        with acme.active():
            clerk = Role.objects.get(name="Clerk")

        answer = submit_operation(operator, Role, "scopes", clerk, scope_ids=[str(foreign.pk)])

        assert answer.status_code == 400
        with acme.active():
            assert not roles.SCOPES.items_of(clerk.pk).exists()

    def test_are_given_to_people_by_administrators_and_not_by_support(self, acme, operator):
        user = acme.user()
        submit_operation(operator, Role, "create", name="Clerk", type="User", description="")
        with acme.active():
            clerk = Role.objects.get(name="Clerk")
        support = operators.at(acme, administrator(role="support", tenants=[acme.tenant.slug]))
        path = f"/admin/users/user/{user.pk}/do/roles/"

        submit_operation(operator, type(user), "roles", user, role_ids=[str(clerk.pk)])

        assert support.get(path).status_code == 403
        assert path not in support.get(f"/admin/users/user/{user.pk}/change/").text
        with acme.active():
            assert list(roles.USER_ROLES.items_of(user.pk)) == [clerk]

    def test_are_given_to_machines_and_to_no_other_application(self, acme, operator):
        robot = acme.application("MachineToMachine", name="Robot").application
        shop = acme.application(name="Shop").application
        with acme.active():
            managing = Role.objects.get(is_protected=True)

        submit_operation(operator, type(robot), "roles", robot, role_ids=[str(managing.pk)])
        operator.submit(f"/admin/applications/application/{shop.pk}/do/roles/", page="/admin/tenant/")

        with acme.active():
            assert list(bindings.ROLES.items_of(robot.pk)) == [managing]
            assert not bindings.ROLES.items_of(shop.pk).exists()


class TestOrganizations:
    @pytest.fixture
    def chapter(self, acme, operator):
        submit_operation(
            operator, Organization, "create", name="Chapter", description="", logo_url="", metadata='{"a": 1}'
        )
        with acme.active():
            return Organization.objects.get(name="Chapter")

    def test_are_made_with_what_applications_keep(self, chapter):
        assert chapter.metadata == {"a": 1}

    @pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": "\\u0000"}', '{"a": "\\ud800"}', "[1]", "{"])
    def test_metadata_that_cannot_be_stored_is_refused(self, acme, operator, text):
        answer = submit_operation(
            operator, Organization, "create", name="Chapter", description="", logo_url="", metadata=text
        )

        assert answer.status_code == 400
        with acme.active():
            assert not Organization.objects.exists()

    def test_the_list_of_members_has_those_of_one_organization(self, acme, operator, chapter):
        ada, bob = acme.user("ada"), acme.user("bob")
        with acme.active():
            larger = Organization.objects.create(name="Chapter of Europe")
            Membership.objects.create(organization=chapter, user=ada)
            Membership.objects.create(organization=larger, user=bob)

        page = operator.get(members_admin.get_list_url(chapter)).text
        other = operator.get("/admin/organizations/membership/?organization=nonsense").text

        assert ("ada" in page, "bob" in page) == (True, False)
        assert "ada" not in other

    def test_members_come_by_whatever_they_are_known_as_and_get_roles(self, acme, operator, chapter):
        ada, bob = acme.user("ada", email="ada@acme.example"), acme.user("bob")
        with acme.active():
            role = OrganizationRole.objects.create(name="Editor")

        submit_operation(
            operator, Organization, "add-members", chapter, user_ids=f"ADA@acme.example\r\n{bob.pk}\r\n"
        )
        with acme.active():
            member = Membership.objects.get(user=ada)
            assert Membership.objects.filter(organization=chapter).count() == 2
        submit_operation(operator, Membership, "roles", member, organization_role_ids=[str(role.pk)])
        submit_operation(operator, Membership, "change", member, is_admin="on")

        page = operator.get(f"/admin/organizations/membership/{member.pk}/change/").text
        assert "Editor" in page
        with acme.active():
            assert Membership.objects.get(pk=member.pk).is_admin
        gone = submit_operation(operator, Membership, "remove", member)
        assert gone.headers["Location"].endswith(f"/organization/{chapter.pk}/change/")

    @pytest.mark.parametrize("unknown", ["nobody", "{rival}", "\u0000"])
    def test_nobody_is_added_when_one_is_unknown(self, acme, rival, operator, chapter, unknown):
        acme.user("ada")
        lines = f"ada\n{unknown.format(rival=rival.user().pk)}"

        answer = submit_operation(operator, Organization, "add-members", chapter, user_ids=lines)

        assert answer.status_code == 400
        with acme.active():
            assert not Membership.objects.filter(organization=chapter).exists()

    def test_role_templates_hold_permissions_and_scopes(self, acme, operator):
        submit_operation(operator, OrganizationPermission, "create", name="read:books", description="")
        submit_operation(operator, OrganizationRole, "create", name="Reader", type="User", description="")
        with acme.active():
            role, permission = OrganizationRole.objects.get(), OrganizationPermission.objects.get()
            scope = Scope.objects.get(name="all")

        submit_operation(operator, OrganizationRole, "permissions", role, permission_ids=[str(permission.pk)])
        submit_operation(operator, OrganizationRole, "scopes", role, scope_ids=[str(scope.pk)])

        page = operator.get(f"/admin/organizations/organizationrole/{role.pk}/change/").text
        assert "read:books" in page
        assert ">all<" in page


class TestConnectors:
    def test_secrets_go_in_and_never_come_out(self, acme, operator):
        chosen = submit_operation(operator, Connector, "create", connector_id="google")
        assert chosen.headers["Location"].endswith("/do/create-google/")
        submit_operation(
            operator, Connector, "create-google", client_id="first", client_secret=SECRET, scope="openid"
        )
        with acme.active():
            made = Connector.objects.get()
        path = f"/admin/connectors/connector/{made.pk}"

        submit_operation(
            operator, Connector, "change", made, client_id="second", client_secret="", scope="openid"
        )

        with acme.active():
            changed = Connector.objects.get()
            assert not changed.enabled
            assert (changed.config()["client_id"], changed.config()["client_secret"]) == ("second", SECRET)
        for page in (f"{path}/change/", f"{path}/do/change/", f"{path}/do/test/"):
            assert SECRET not in operator.get(page).text
        assert keys(acme)[-2:] == ["Connector.Create", "Connector.Update"]

    def test_a_secret_is_asked_for_again_when_it_would_go_elsewhere(self, acme, operator):
        with acme.active():
            config = {
                "host": "mail.example",
                "username": "u",
                "password": SECRET,
                "from_email": "a@b.example",
            }
            smtp = connectors.create(connector_id="smtp", type="Email", config=config, is_proven=True)

        answer = submit_operation(
            operator, Connector, "change", smtp, host="evil.example", username="u", from_email="a@b.example"
        )

        assert answer.status_code == 400
        assert "send the secret again" in read_text(answer)
        with acme.active():
            assert Connector.objects.get().config()["host"] == "mail.example"

    def test_what_is_missing_is_told_at_its_field(self, operator):
        answer = submit_operation(operator, Connector, "create-smtp", host="", from_email="x")

        assert answer.status_code == 400
        assert read_text(answer).count("is required") == 1
        assert "must be an email address" in read_text(answer)

    def test_one_whose_provider_is_not_built_in_is_json(self, acme, operator):
        with acme.active():
            made = connectors.create(
                connector_id="theirs", type="Sms", config={"token": SECRET, "a": 1}, is_proven=True
            )

        shown = operator.get(f"/admin/connectors/connector/{made.pk}/do/change/").text
        submit_operation(operator, Connector, "change", made, config='{"token": "***", "a": 2}')
        wrong = submit_operation(operator, Connector, "change", made, config="[]")

        assert SECRET not in shown
        assert wrong.status_code == 400
        with acme.active():
            assert Connector.objects.get().config() == {"token": SECRET, "a": 2}


class TestTheSignInExperience:
    def at(self, acme):
        with acme.active():
            return experiences.current()

    def test_ways_and_registration_are_changed(self, acme, operator):
        row = self.at(acme)

        submit_operation(operator, type(row), "ways", row, email_password="on", email_code="on")
        submit_operation(
            operator, type(row), "registration", self.at(acme), identifiers=["email"], verify="on"
        )

        after = self.at(acme)
        assert after.can_use_code("email")
        assert not after.can_use_password("username")
        assert after.sign_up == {
            "identifiers": ["email"],
            "password": False,
            "verify": True,
            "agree_to_terms": "automatic",
        }

    def test_messages_get_words_of_the_tenant_s_own_and_lose_them(self, acme, operator):
        row = self.at(acme)
        chosen = submit_operation(
            operator, type(row), "message", row, message="sign_in-sms", language="zh-hans"
        )
        name = chosen.headers["Location"].split("/")[-2]

        refused = submit_operation(operator, type(row), name, row, text="no place for it")
        submit_operation(operator, type(row), name, row, text="{code} from {name}")

        assert refused.status_code == 400
        assert "must contain {code}" in read_text(refused)
        (template,) = self.at(acme).message_templates
        assert (template["purpose"], template["channel"], template["language"]) == (
            "sign_in", "sms", "zh-hans",
        )  # fmt: skip
        submit_operation(operator, type(row), name, self.at(acme), text="")
        assert self.at(acme).message_templates == []

    def test_of_two_edits_at_once_one_is_told_to_read_again(self, acme, operator):
        row = self.at(acme)
        path = f"/admin/experience/signinexperience/{row.pk}/do/ways/"
        page = operator.get(path).text
        (token, *_) = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        submit_operation(operators.at(acme), type(row), "registration", row, identifiers=["email"])

        answer = operator.http.post(
            path,
            data={
                "csrfmiddlewaretoken": token,
                "drawn_for": operator.tenant,
                "version": str(row.version),
                "email_code": "on",
            },
        )

        assert answer.status_code == 412
        assert "Load the page again" in answer.text
        assert self.at(acme).can_use_password("username")
