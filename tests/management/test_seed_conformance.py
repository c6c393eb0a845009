"""``manage.py seed_conformance``: what it makes, shows and refuses. tests/conformance works with it."""

import json
import re
import secrets
from dataclasses import dataclass
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audit.models import Entry
from identity.core import tenancy
from identity.tenants.models import Tenant
from identity.users import passwords, profile
from identity.users import services as users
from identity.users.models import User
from oidc.applications import client_secrets
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.keys import active_keys
from oidc.keys.models import SigningKey
from oidc.provider import claims, scopes

SUITE = "https://suite.example"


@dataclass
class Seeding:
    """The command, for a tenant that is not there yet."""

    slug: str

    def said(self, *arguments: str, suite: str = SUITE, alias: str = "gate") -> str:
        out = StringIO()
        tenant = ("--suite", suite, "--alias", alias, "--tenant", self.slug)
        call_command("seed_conformance", *tenant, *arguments, stdout=out)
        return out.getvalue()

    def config(self, *arguments: str, **options: str) -> Any:
        return json.loads(self.said("--json", *arguments, **options))

    def inside(self) -> Any:
        with tenancy.using(tenancy.EVERYWHERE):
            return tenancy.using(Tenant.objects.get(slug=self.slug).to_active())

    def application(self, config: Any, block: str = "client") -> Application:
        return Application.objects.get(client_id=config[block]["client_id"])


@pytest.fixture
def seeding(database, settings):
    settings.BASE_URL = "https://id.example"
    return Seeding(f"conformance-{secrets.token_hex(4)}")


def secrets_of(config: Any) -> set[str]:
    return {config[block]["client_secret"] for block in ("client", "client2", "client_secret_post")}


def password_of(config: Any) -> str:
    commands = [command for task in config["browser"][0]["tasks"] for command in task["commands"]]
    return str(next(command[3] for command in commands if command[:3] == ["text", "name", "password"]))


def test_makes_two_clients_with_exactly_the_addresses_of_the_alias(seeding):
    config = seeding.config()

    assert config["server"]["discoveryUrl"] == (
        f"https://id.example/t/{seeding.slug}/.well-known/openid-configuration"
    )
    assert config["alias"] == "gate"
    assert config["client_secret_post"] == config["client"] != config["client2"]
    with seeding.inside():
        assert Application.objects.count() == 2
        for block in ("client", "client2"):
            made = seeding.application(config, block)
            assert made.redirect_uris == ["https://suite.example/test/a/gate/callback"]
            assert made.post_logout_redirect_uris == [
                "https://suite.example/test/a/gate/post_logout_redirect"
            ]
            assert (made.type, made.is_third_party) == ("Traditional", False)
            assert made.grant_types == ["authorization_code", "refresh_token"]
            assert made.id_token_signed_response_alg == "RS256"
            assert client_secrets.is_valid(made, config[block]["client_secret"])


def test_makes_a_person_who_has_something_to_say_for_every_claim(seeding):
    config = seeding.config()

    with seeding.inside():
        person = User.objects.get()
        said = claims.get_values(person, claims.get_names(scopes.IDENTITY_SCOPES))
        right, _ = passwords.verify(password_of(config), person.password)
    assert right
    assert said.keys() == {
        *("name", "username", "preferred_username", "picture", "updated_at"),
        *(*profile.TEXTS, profile.ADDRESS),
        *("email", "email_verified", "phone_number", "phone_number_verified"),
    }
    assert said["email_verified"] is said["phone_number_verified"] is True
    assert config["server"]["login_hint"] == person.username


def test_the_tenant_offers_rs256_beside_es256(seeding):
    seeding.config()
    seeding.config()

    with seeding.inside():
        assert active_keys.get_algorithms() == ["ES256", "RS256"]
        assert SigningKey.objects.count() == 2
        assert SigningKey.objects.default().get().algorithm == "ES256"


def test_nothing_waits_for_the_suite_after_a_sign_out(seeding):
    config = seeding.config()

    [sign_out] = [block for block in config["browser"] if "end-session" in block["match"]]
    commands = [command for task in sign_out["tasks"] for command in task["commands"]]
    assert commands == [["click", "css", "main form button[type='submit']", "optional"]]


def test_the_error_page_of_an_added_query_is_pictured(seeding):
    [block] = seeding.config()["override"]["oidcc-redirect-uri-query-added"]["browser"]

    assert "/oidc/authorize" in block["match"]
    assert block["tasks"][0]["commands"][0][-1] == "update-image-placeholder"


def test_everything_it_makes_is_in_the_audit_log(seeding):
    seeding.config()

    with seeding.inside():
        tenant = tenancy.active_id()
    keys = set(Entry.objects.filter(tenant_id=tenant).values_list("key", flat=True))
    assert {"Tenant.Create", "Application.Create", "User.Create", "User.Update"} <= keys


def test_repeated_it_changes_nothing_and_shows_no_secret(seeding):
    first = seeding.config()
    with seeding.inside():
        before = list(User.objects.values()) + list(Application.objects.values())
        entries = Entry.objects.count()

    again = seeding.config()

    with seeding.inside():
        assert list(User.objects.values()) + list(Application.objects.values()) == before
    assert Entry.objects.count() == entries
    assert again["client"]["client_id"] == first["client"]["client_id"]
    shown = {*secrets_of(again), password_of(again)}
    assert len(shown) == 1
    assert "--rotate" in shown.pop()
    assert all(secret not in json.dumps(again) for secret in {*secrets_of(first), password_of(first)})


def test_repeated_it_mends_what_was_changed(seeding):
    config = seeding.config()
    with seeding.inside():
        made = seeding.application(config)
        applications.change(
            made, {"redirect_uris": ["https://elsewhere.example/"], "is_third_party": True}, is_proven=True
        )
        users.change(User.objects.get(), {"email": "", "name": "Somebody"}, is_proven=True)

    seeding.config()

    with seeding.inside():
        mended = seeding.application(config)
        assert mended.redirect_uris == ["https://suite.example/test/a/gate/callback"]
        assert mended.is_third_party is False
        person = User.objects.get()
        assert (person.name, person.email) == ("Ada Conformance", "conformance-gate@example.com")
        assert (person.email_verified, person.phone_verified) == (True, True)


def test_rotate_makes_every_secret_anew(seeding):
    first = seeding.config()

    second = seeding.config("--rotate")

    assert not secrets_of(first) & secrets_of(second)
    with seeding.inside():
        made = seeding.application(second)
        assert client_secrets.is_valid(made, second["client"]["client_secret"])
        assert not client_secrets.is_valid(made, first["client"]["client_secret"])
        assert passwords.verify(password_of(second), User.objects.get().password)[0]


def test_another_alias_has_clients_and_a_person_of_its_own(seeding):
    first, second = seeding.config(), seeding.config(alias="other_one")

    assert first["client"]["client_id"] != second["client"]["client_id"]
    with seeding.inside():
        assert Application.objects.count() == 4
        assert User.objects.count() == 2


def test_a_tenant_with_others_in_it_is_left_alone_unless_told_otherwise(seeding, acme):
    seeding.slug = acme.tenant.slug
    acme.user()
    with pytest.raises(CommandError, match=r"has other users or applications.*--in-use"):
        seeding.config()
    with acme.active():
        assert not Application.objects.exists()

    config = seeding.config("--in-use")

    with acme.active():
        assert seeding.application(config)


def test_somebody_elses_name_is_not_taken(seeding, acme):
    seeding.slug = acme.tenant.slug
    somebody = acme.user("Conformance-Gate")

    with pytest.raises(CommandError, match="alias: another user has the username conformance-gate"):
        seeding.config("--in-use", "--rotate")

    with acme.active():
        assert User.objects.get().password == somebody.password


def test_without_https_nothing_is_made_and_the_reason_is_told(seeding, settings):
    settings.BASE_URL = "http://id.example"

    with pytest.raises(CommandError, match=r"BASE_URL is not https.*terminates TLS"):
        seeding.config()

    assert not Tenant.objects.filter(slug=seeding.slug).exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"suite": "http://suite.example"}, "suite: must be an https URL without a path"),
        ({"suite": "https://suite.example/path"}, "suite: must be an https URL without a path"),
        ({"suite": "suite.example"}, "suite: must be an https URL without a path"),
        ({"alias": "../callback"}, "alias: must be 1 to 64"),
        ({"alias": ""}, "alias: must be 1 to 64"),
    ],
)
def test_what_it_is_told_is_looked_at_first(seeding, options, message):
    with pytest.raises(CommandError, match=message):
        seeding.config(**options)

    assert not Tenant.objects.filter(slug=seeding.slug).exists()


def test_without_json_it_says_what_it_prints_and_whether_secrets_are_in_it(seeding):
    first, again = seeding.said(), seeding.said(suite=f"{SUITE}/")

    assert "shown only this once" in first
    assert "--rotate creates new ones" in again
    for text in (first, again):
        assert re.search(r"^Callback +https://suite\.example/test/a/gate/callback$", text, re.MULTILINE)
        assert json.loads(text[text.index("{") :])["alias"] == "gate"


def test_the_limits_that_a_plan_meets_are_named_in_its_help(capsys):
    with pytest.raises(SystemExit):
        call_command("seed_conformance", "--help")

    said = capsys.readouterr().out
    assert all(name in said for name in ("LIMIT_ADDRESS_SIGN_INS", "LOCK_PAIR_FAILURES", "TRUSTED_PROXIES"))
