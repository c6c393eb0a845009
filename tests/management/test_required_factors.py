"""Organizations and API resources that require a stronger sign-in, as administrators set them."""

import pytest

from identity.organizations.models import Organization
from tests.support import audit_log, management
from tests.support.admin_pages import operate
from tests.support.factors import switch_on
from tests.support.management import refusal_of, result_of
from tests.support.operators import text_of

TWO = "urn:service:acr:2fa"


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


class TestOrganizations:
    def test_decision_M18_it_is_off_at_first_and_audited(self, acme, admin):
        switch_on(acme, "Totp")
        made = admin.created("/organizations", name="Clinic")
        path = f"/organizations/{made['id']}"

        changed = result_of(admin.patch(path, is_mfa_required=True))

        assert (made["is_mfa_required"], changed["is_mfa_required"]) == (False, True)
        assert result_of(admin.get(path))["is_mfa_required"] is True
        assert "is_mfa_required" in audit_log.last(acme, "Organization.Update").payload["fields"]

    @pytest.mark.parametrize("value", [1, "true", None])
    def test_only_a_flag_is_taken(self, acme, admin, value):
        switch_on(acme, "Totp")
        assert "is_mfa_required" in refusal_of(
            admin.post("/organizations", name="Clinic", is_mfa_required=value), 400
        )

    def test_a_tenant_without_second_factors_cannot_require_one(self, acme, admin):
        refused = admin.post("/organizations", name="Clinic", is_mfa_required=True)
        assert "is_mfa_required: needs a second factor" in refusal_of(refused, 400)

        switch_on(acme, "Totp")
        path = f"/organizations/{admin.created('/organizations', name='C', is_mfa_required=True)['id']}"
        result_of(admin.patch("/sign-in-experience", mfa={"factors": []}))
        assert result_of(admin.patch(path, name="D", is_mfa_required=True))["is_mfa_required"] is True

    def test_decision_M18_of_another_tenant_it_is_unknown(self, acme, rival, admin):
        theirs = management.superuser(rival).created("/organizations", name="Theirs")

        refusal_of(admin.patch(f"/organizations/{theirs['id']}", is_mfa_required=True), 404)

    def test_operators_see_and_set_it(self, acme, operator):
        switch_on(acme, "Totp")
        with acme.active():
            row = Organization.objects.create(name="Clinic")
        form = f"/admin/organizations/organization/{row.pk}/do/change/"
        assert "Require two factors" in text_of(operator.get(form))

        answer = operate(
            operator, "organizations/organization", row, "change",
            name="Clinic", description="", logo_url="", metadata="{}", is_mfa_required="on",
        )  # fmt: skip

        assert answer.status_code in {302, 303}, answer.text
        with acme.active():
            assert Organization.objects.get().is_mfa_required
        assert "Two factors required" in text_of(operator.get("/admin/organizations/organization/"))


class TestResources:
    def create(self, admin, **fields):
        return admin.post("/resources", name="Payroll", indicator="https://pay.example", **fields)

    def test_decision_M19_it_is_empty_at_first_and_audited(self, acme, admin):
        switch_on(acme, "Totp")
        made = result_of(self.create(admin))

        changed = result_of(admin.patch(f"/resources/{made['id']}", required_acr=TWO))

        assert (made["required_acr"], changed["required_acr"]) == ("", TWO)
        assert "required_acr" in audit_log.last(acme, "Resource.Update").payload["fields"]
        assert result_of(admin.patch(f"/resources/{made['id']}", required_acr=None))["required_acr"] == ""

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            ("gold", "must be a value of acr"),
            ("phr", "cannot be reached"),
            ("x" * 257, "required_acr"),
            (2, "required_acr"),
        ],
    )
    def test_decision_M19_what_nobody_knows_or_reaches_is_refused(self, acme, admin, value, said):
        switch_on(acme, "Totp")
        assert said in refusal_of(self.create(admin, required_acr=value), 400)

    def test_decision_M4_aliases_of_the_tenant_are_known(self, acme, rival, admin):
        aliases = [{"value": "https://refeds.org/profile/mfa", "level": TWO}]
        switch_on(acme, "Totp")
        theirs = management.superuser(switch_on(rival, "Totp"))
        result_of(admin.patch("/oidc-settings", acr_aliases=aliases))

        result_of(self.create(admin, required_acr=aliases[0]["value"]))

        assert "must be a value" in refusal_of(self.create(theirs, required_acr=aliases[0]["value"]), 400)
