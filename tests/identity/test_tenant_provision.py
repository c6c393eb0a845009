"""What a tenant has from the beginning."""

import secrets

import pytest

from audit.models import Entry
from database import ids
from identity.core import tenancy
from identity.core.errors import Invalid
from identity.tenants import services as tenants
from identity.tenants.models import Tenant
from interaction.experience.models import SignInExperience
from oidc.keys.models import SigningKey
from tests.support.threads import at_once


def new_slug():
    return f"t-{secrets.token_hex(4)}"


def everything():
    """How many rows there are of what a tenant is born with."""
    with tenancy.using(tenancy.EVERYWHERE):
        return [model.objects.count() for model in (Tenant, SigningKey, SignInExperience, Entry)]


class TestProvision:
    @pytest.mark.parametrize("slug", ["a", "0", "-", "a-b", "x" * 63, "123", "--"])
    def test_decision_T4_slugs_of_small_letters_digits_and_dashes(self, slug):
        unique = f"{slug}{secrets.token_hex(4)}"[-63:]

        with tenancy.using(tenancy.EVERYWHERE):
            tenant = tenants.provision(slug=unique, name="Some name")

        assert Tenant.objects.get(slug=unique) == tenant

    @pytest.mark.parametrize(
        "slug",
        [
            "",
            "A",
            "a_b",
            "a.b",
            "a b",
            " a",
            "a\n",
            "\na",
            "x" * 64,
            "ä",
            "\uff41",
            "a/b",
            "..",
            "a\0",
            "\u0661",
        ],
    )
    def test_decision_T4_other_slugs_are_refused(self, slug):
        with tenancy.using(tenancy.EVERYWHERE), pytest.raises(Invalid) as refusal:
            tenants.provision(slug=slug, name="Some name")

        assert refusal.value.field == "slug"

    def test_a_slug_is_taken_once(self, acme):
        before = Entry.objects.filter(key="Tenant.Create").count()

        with tenancy.using(tenancy.EVERYWHERE), pytest.raises(Invalid) as refusal:
            tenants.provision(slug=acme.tenant.slug, name="Again")

        assert (refusal.value.field, refusal.value.rule) == ("slug", "already exists")
        assert Tenant.objects.get(slug=acme.tenant.slug).name == "Acme"
        assert Entry.objects.filter(key="Tenant.Create").count() == before

    def test_decision_T1_default_exists_and_cannot_be_made_again(self, address):
        assert Tenant.objects.get(pk="default").slug == "default"

        with tenancy.using(tenancy.EVERYWHERE), pytest.raises(Invalid):
            tenants.provision(slug="default", name="Again")

    def test_a_slug_that_many_ask_for_goes_to_one(self):
        slug = new_slug()

        def work(_):
            try:
                with tenancy.using(tenancy.EVERYWHERE):
                    return tenants.provision(slug=slug, name="Wanted").pk
            except Invalid:
                return None

        won = [pk for pk in at_once(6, work) if pk]

        assert len(won) == 1
        with tenancy.using(Tenant.objects.get(pk=won[0]).to_active()):
            assert SigningKey.objects.count() == 1
            assert SignInExperience.objects.count() == 1

    def test_decision_T3_is_born_with_an_active_key_and_an_experience(self, acme):
        with acme.active():
            assert SigningKey.objects.active().count() == SigningKey.objects.count() == 1
            assert SignInExperience.objects.count() == 1

    def test_decision_X2_the_experience_is_the_default_one(self, acme):
        shown = acme.get("/api/interaction/sign-in-experience").json()["result"]

        assert shown["sign_in"]["methods"] == [
            {"identifier": "username", "password": True, "verification_code": False},
            {"identifier": "email", "password": True, "verification_code": True},
            {"identifier": "phone", "password": True, "verification_code": True},
        ]
        assert shown["sign_up"] == {
            "identifiers": ["username"],
            "password": True,
            "verify": False,
            "agree_to_terms": "automatic",
        }
        assert shown["password_policy"]["min_length"] == 8
        assert set(shown["branding"].values()) == {""}

    def test_decision_T3_all_or_nothing(self, settings):
        slug = new_slug()
        before = everything()
        # The last of them fails: it wants an argument.
        settings.TENANT_PROVISIONERS = [*settings.TENANT_PROVISIONERS, "database.ids.parse"]

        with tenancy.using(tenancy.EVERYWHERE), pytest.raises(TypeError):
            tenants.provision(slug=slug, name="Half a tenant")

        assert not Tenant.objects.filter(slug=slug).exists()
        assert everything() == before

    def test_decision_A1_is_written_down_in_the_new_tenant(self, acme):
        entry = Entry.objects.get(key="Tenant.Create", tenant_id=acme.tenant.pk)

        assert entry.payload == {"slug": acme.tenant.slug, "name": "Acme"}

    def test_decision_H8_ids_are_version_7(self, acme):
        parsed = ids.parse(acme.tenant.pk)

        assert parsed is not None
        assert parsed.version == 7

    def test_leaves_no_tenant_active(self, acme):
        with tenancy.using(tenancy.EVERYWHERE):
            tenants.provision(slug=new_slug(), name="Some name")

            assert tenancy.scope() == tenancy.EVERYWHERE

        with pytest.raises(tenancy.NoActiveTenant):
            tenancy.scope()
