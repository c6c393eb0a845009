"""How strong sign-ins to an application must be, in the management API."""

import pytest

from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.settings import services as oidc_settings
from oidc.settings.models import OidcSettings
from tests.support import management
from tests.support.factors import switch_on
from tests.support.management import refusal_of, result_of
from tests.support.threads import at_once

TWO = "urn:service:acr:2fa"


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


@pytest.fixture
def shop(acme):
    return acme.application().application


def change(admin, application, **metadata):
    return admin.patch(f"/applications/{application.pk}", oidc_client_metadata=metadata)


def test_decision_M19_applications_demand_nothing_unless_told_to(admin, shop):
    shown = result_of(admin.get(f"/applications/{shop.pk}"))["oidc_client_metadata"]

    assert (shown["required_acr"], shown["default_acr_values"]) == ("", [])


def test_decision_M19_levels_and_aliases_are_accepted(acme, admin, shop):
    with acme.active():
        oidc_settings.change({"acr_aliases": [{"value": "silver", "level": TWO}]}, is_proven=True)

    shown = result_of(change(admin, shop, required_acr="silver", default_acr_values=["phr", "silver"]))

    found = shown["oidc_client_metadata"]
    assert (found["required_acr"], found["default_acr_values"]) == ("silver", ["phr", "silver"])
    cleared = result_of(change(admin, shop, required_acr=None))["oidc_client_metadata"]
    assert (cleared["required_acr"], cleared["default_acr_values"]) == ("", ["phr", "silver"])


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"required_acr": "nobody-knows-it"}, "required_acr"),
        ({"required_acr": f"{TWO} phr"}, "required_acr"),
        ({"default_acr_values": [TWO, "nobody-knows-it"]}, "default_acr_values.1"),
        ({"default_acr_values": [""]}, "default_acr_values.0"),
        ({"default_acr_values": TWO}, "default_acr_values"),
    ],
)
def test_decision_M19_other_values_are_refused(admin, shop, fields, field):
    assert f"oidc_client_metadata.{field}" in refusal_of(change(admin, shop, **fields), 400)


def test_decision_M19_aliases_of_another_tenant_are_unknown(rival, admin, shop):
    with rival.active():
        oidc_settings.change({"acr_aliases": [{"value": "gold", "level": "phr"}]}, is_proven=True)

    assert "required_acr" in refusal_of(change(admin, shop, required_acr="gold"), 400)


@pytest.mark.parametrize("fields", [{"required_acr": TWO}, {"default_acr_values": [TWO]}])
def test_decision_M19_a_machine_has_no_users(acme, admin, fields):
    machine = acme.application("MachineToMachine").application

    assert next(iter(fields)) in refusal_of(change(admin, machine, **fields), 400)


class TestAliasesInUse:
    """An alias that an application requires stays, or nobody could sign in to the application."""

    @pytest.fixture(autouse=True)
    def aliases(self, admin, shop):
        self.replace(admin, "silver", "gold")
        result_of(change(admin, shop, required_acr="silver"))

    def replace(self, admin, *values):
        aliases = [{"value": value, "level": TWO} for value in values]
        answer = admin.patch("/oidc-settings", acr_aliases=aliases)
        if answer.status_code == 200:
            assert [alias["value"] for alias in result_of(answer)["acr_aliases"]] == list(values)
        return answer

    @pytest.mark.parametrize("left", [(), ("gold",), ("Silver", "gold")])
    def test_decision_M19_removing_or_renaming_one_is_refused_and_names_the_application(
        self, admin, shop, left
    ):
        refused = self.replace(admin, *left)

        rule = f"must keep silver, which is required_acr of “{shop.name}”"
        assert refusal_of(refused, 400) == f"acr_aliases: {rule}"
        [error] = refused.json()["errors"]
        assert (error["field"], error["code"]) == ("acr_aliases", "conflict")
        kept = result_of(admin.get("/oidc-settings"))["acr_aliases"]
        assert [alias["value"] for alias in kept] == ["silver", "gold"]

    def test_decision_M19_one_that_an_api_requires_stays_too(self, acme, admin):
        switch_on(acme, "Totp")
        api = result_of(
            admin.post("/resources", name="Books", indicator="https://books.example", required_acr="gold")
        )

        text = refusal_of(self.replace(admin, "silver"), 400)

        assert text == "acr_aliases: must keep gold, which is required_acr of “Books”"
        result_of(admin.patch(f"/resources/{api['id']}", required_acr=""))
        assert self.replace(admin, "silver").status_code == 200

    def test_decision_M19_others_can_go_and_its_level_can_change(self, admin):
        assert self.replace(admin, "silver").status_code == 200
        aliases = [{"value": "silver", "level": "phr"}]
        assert admin.patch("/oidc-settings", acr_aliases=aliases).status_code == 200

    def test_decision_M19_it_can_go_once_nobody_requires_it(self, admin, shop):
        result_of(change(admin, shop, required_acr=TWO, default_acr_values=["silver"]))

        assert self.replace(admin).status_code == 200

    def test_decision_M19_one_that_was_lost_earlier_blocks_no_change(self, acme, admin):
        with acme.active():
            OidcSettings.objects.update(acr_aliases=[])

        assert self.replace(admin, "bronze").status_code == 200

    def test_decision_M19_applications_of_another_tenant_do_not_count(self, rival):
        theirs = management.superuser(rival)
        self.replace(theirs, "silver")

        assert self.replace(theirs).status_code == 200

    def test_decision_M19_many_applications_are_named_up_to_ten(self, acme, admin):
        with acme.active():
            for number in range(12):
                applications.register(name=f"A{number:02}", type="SPA", required_acr="silver")

        text = refusal_of(self.replace(admin), 400)

        assert "“A00”, “A01”" in text
        assert text.endswith("“A09”, …")

    def test_decision_M19_an_application_and_the_aliases_that_change_at_once_agree(self, acme, admin, shop):
        ways = (lambda: self.replace(admin), lambda: change(admin, shop, required_acr="silver"))
        for _ in range(5):
            result_of(change(admin, shop, required_acr=""))
            self.replace(admin, "silver")

            at_once(2, lambda index: ways[index]())

            with acme.active():
                required = Application.objects.get(pk=shop.pk).required_acr
                aliases = oidc_settings.current().acr_aliases
            assert not required or aliases
