"""An alias of acr that an API resource requires, in the management API."""

import pytest
from django.db import connection

from identity.resources import services as resources
from identity.resources.models import Resource
from oidc.settings import services as oidc_settings
from tests.support import management
from tests.support.database_locks import send_meanwhile
from tests.support.factors import switch_on
from tests.support.management import refusal_of, result_of

TWO = "urn:service:acr:2fa"


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time")
class TestApisAndAliasesAtOnce:
    """An API that comes to require an alias while the tenant removes it: the second change is refused."""

    @pytest.fixture(autouse=True)
    def aliases(self, acme):
        switch_on(acme, "Totp")
        with acme.active():
            oidc_settings.change({"acr_aliases": [{"value": "gold", "level": TWO}]}, is_proven=True)

    @pytest.fixture
    def api(self, acme):
        with acme.active():
            return resources.create(name="Books", indicator="https://books.example")

    def remove_gold(self):
        oidc_settings.change({"acr_aliases": []}, is_proven=True)

    def test_decision_M19_an_alias_stays_that_an_api_is_about_to_require(self, acme, admin, api):
        refused = send_meanwhile(
            acme.active(),
            lambda: resources.change(api, {"required_acr": "gold"}, expected=None, is_proven=True),
            lambda: admin.patch("/oidc-settings", acr_aliases=[]),
        )

        text = "acr_aliases: must keep gold, which is required_acr of “Books”"
        assert refusal_of(refused, 400) == text

    def test_decision_M19_an_alias_stays_that_a_new_api_is_about_to_require(self, acme, admin):
        refused = send_meanwhile(
            acme.active(),
            lambda: resources.create(name="Books", indicator="https://books.example", required_acr="gold"),
            lambda: admin.patch("/oidc-settings", acr_aliases=[]),
        )

        assert "must keep gold" in refusal_of(refused, 400)

    def test_decision_M19_an_api_cannot_require_an_alias_that_is_being_removed(self, acme, admin, api):
        refused = send_meanwhile(
            acme.active(), self.remove_gold, lambda: admin.patch(f"/resources/{api.pk}", required_acr="gold")
        )

        rule = "required_acr: must be a value of acr, or one of acr_aliases"
        assert refusal_of(refused, 400) == rule
        with acme.active():
            assert Resource.objects.get(pk=api.pk).required_acr == ""

    def test_decision_M19_a_new_api_cannot_require_an_alias_that_is_being_removed(self, acme, admin):
        body = {"name": "Books", "indicator": "https://books.example", "required_acr": "gold"}

        refused = send_meanwhile(acme.active(), self.remove_gold, lambda: admin.post("/resources", **body))

        assert "required_acr" in refusal_of(refused, 400)
        with acme.active():
            assert not Resource.objects.filter(indicator=body["indicator"]).exists()


def test_decision_M19_an_api_may_keep_an_alias_that_was_lost_earlier(acme, admin):
    with acme.active():
        books = resources.create(name="Books", indicator="https://books.example")
        Resource.objects.filter(pk=books.pk).update(required_acr="gold")

    same = {"name": "Novels", "required_acr": "gold"}
    assert result_of(admin.patch(f"/resources/{books.pk}", **same))["required_acr"] == "gold"
