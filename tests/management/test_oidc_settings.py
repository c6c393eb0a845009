"""/oidc-settings of the management API: which parts of the protocol a tenant uses, and lifetimes."""

from typing import Any

import pytest
from django.conf import settings

from audit.models import Entry
from identity.tenants import services as tenants
from oidc.settings import services
from oidc.settings.models import OidcSettings
from tests.support import cast, management
from tests.support.management import refusal_of, result_of
from tests.support.threads import at_once, rounds

PATH = "/oidc-settings"
DEFAULTS = {
    "default_signing_alg": "ES256",
    "acr_aliases": [],
    "groups_claim": "roles",
    "introspection": False,
    "device_flow": False,
    "token_exchange": False,
    "impersonation": False,
    "plain_oauth": False,
    "client_id_metadata_documents": {"enabled": False, "hosts": []},
    "dynamic_registration": {
        "mode": "off",
        "allowed_scopes": None,
        "redirect_hosts": None,
        "default_days": 30,
    },
    "high_security": False,
    "require_pushed_authorization_requests": False,
    "session_idle_seconds": None,
    "session_absolute_seconds": None,
    "refresh_token_idle_seconds": None,
    "refresh_token_absolute_seconds": None,
    "keep_signed_in": False,
}


class TestReading:
    def test_decision_P2_a_tenant_without_a_row_has_the_defaults(self, acme, admin):
        answer = admin.get(PATH)

        assert result_of(answer) == DEFAULTS
        assert answer.headers["ETag"].endswith('-1"')
        with acme.active():
            assert not OidcSettings.objects.exists()

    def test_the_settings_are_those_of_the_tenant(self, rival, admin):
        result_of(admin.patch(PATH, keep_signed_in=True, session_idle_seconds=60))

        assert result_of(management.superuser(rival).get(PATH)) == DEFAULTS

    def test_they_are_deleted_with_the_tenant(self, admin, acme):
        result_of(admin.patch(PATH, keep_signed_in=True))

        with acme.active():
            tenants.remove(acme.tenant)
            assert not OidcSettings.objects.exists()


class TestChanging:
    def test_decision_P2_every_member_is_stored(self, admin):
        changes = {
            "acr_aliases": [{"value": "https://refeds.org/profile/mfa", "level": "urn:service:acr:2fa"}],
            "groups_claim": "organization_roles",
            "introspection": True,
            "device_flow": True,
            "token_exchange": True,
            "impersonation": True,
            "plain_oauth": True,
            "client_id_metadata_documents": {"enabled": True, "hosts": ["apps.example.com"]},
            "dynamic_registration": {
                "mode": "token",
                "allowed_scopes": ["read:things"],
                "redirect_hosts": ["app.example.com", "localhost"],
                "default_days": 7,
            },
            "high_security": True,
            "require_pushed_authorization_requests": True,
            "session_idle_seconds": 600,
            "session_absolute_seconds": 3600,
            "refresh_token_idle_seconds": 1,
            "refresh_token_absolute_seconds": 7200,
            "keep_signed_in": True,
        }

        shown = result_of(admin.patch(PATH, **changes))

        assert shown == DEFAULTS | changes
        assert result_of(admin.get(PATH)) == shown

    def test_decision_P2_merges_objects_one_level_and_replaces_lists(self, admin):
        documents = {"hosts": ["a.example", "b.example", "a.example"]}
        result_of(admin.patch(PATH, client_id_metadata_documents=documents))
        result_of(admin.patch(PATH, dynamic_registration={"mode": "open", "redirect_hosts": ["a.example"]}))

        shown = result_of(admin.patch(PATH, client_id_metadata_documents={"hosts": ["c.example"]}))
        registered = result_of(admin.patch(PATH, dynamic_registration={"redirect_hosts": None}))

        assert shown["client_id_metadata_documents"] == {"enabled": False, "hosts": ["c.example"]}
        assert registered["dynamic_registration"] == {
            "mode": "open",
            "allowed_scopes": None,
            "redirect_hosts": None,
            "default_days": 30,
        }

    def test_decision_P2_metadata_documents_need_plain_oauth(self, admin):
        shown = result_of(admin.patch(PATH, client_id_metadata_documents={"enabled": True}))
        refused = refusal_of(admin.patch(PATH, plain_oauth=False), 400)
        both = {"plain_oauth": False, "client_id_metadata_documents": {"enabled": False}}
        off = result_of(admin.patch(PATH, **both))

        assert shown["plain_oauth"] is True
        assert refused.startswith("plain_oauth")
        assert off["plain_oauth"] is False

    def test_a_change_of_an_older_version_is_refused(self, admin):
        first = admin.get(PATH).headers["ETag"]
        changed = admin.saying(if_match=first).patch(PATH, keep_signed_in=True)

        stale = admin.saying(if_match=first).patch(PATH, keep_signed_in=False)

        assert changed.headers["ETag"] != first
        assert refusal_of(stale, 412)
        assert result_of(admin.get(PATH))["keep_signed_in"] is True

    def test_a_first_change_of_another_version_leaves_no_row(self, acme, admin):
        tag = admin.get(PATH).headers["ETag"].replace('-1"', '-7"')

        refusal_of(admin.saying(if_match=tag).patch(PATH, keep_signed_in=True), 412)

        with acme.active():
            assert not OidcSettings.objects.exists()

    def test_the_log_has_the_new_and_the_old_values(self, acme, admin):
        result_of(admin.patch(PATH, session_idle_seconds=600, keep_signed_in=True))

        entry = Entry.objects.filter(tenant_id=acme.tenant.pk).get(key="OidcSettings.Update")
        assert entry.payload["values"] == {"session_idle_seconds": 600, "keep_signed_in": True}
        assert entry.payload["before"] == {"session_idle_seconds": None, "keep_signed_in": False}

    def test_what_follows_from_a_change_is_in_its_transaction(self, acme, monkeypatch):
        monkeypatch.setattr(settings, "OIDC_SETTINGS_EFFECTS", [f"{__name__}.refuse"])

        with acme.active():
            with pytest.raises(ZeroDivisionError):
                services.change({"keep_signed_in": True}, is_proven=True)
            assert not OidcSettings.objects.exists()

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("default_signing_alg", "HS256"),
            ("default_signing_alg", "none"),
            ("default_signing_alg", ""),
            ("default_signing_alg", None),
            ("groups_claim", "teams"),
            ("groups_claim", None),
            ("introspection", "yes"),
            ("keep_signed_in", 1),
            ("keep_signed_in", None),
            ("high_security", None),
            ("acr_aliases", {}),
            ("acr_aliases", ["1"]),
            ("acr_aliases", [{"value": "1"}]),
            ("acr_aliases", [{"level": "phr"}]),
            ("acr_aliases", [{"value": "1", "level": "3fa"}]),
            ("acr_aliases", [{"value": "a b", "level": "phr"}]),
            ("acr_aliases", [{"value": "phr", "level": "phrh"}]),
            ("acr_aliases", [{"value": "1", "level": "phr"}, {"value": "1", "level": "phrh"}]),
            ("acr_aliases", [{"value": str(n), "level": "phr"} for n in range(21)]),
            ("client_id_metadata_documents", None),
            ("client_id_metadata_documents", True),
            ("client_id_metadata_documents", {"enabled": "on"}),
            ("client_id_metadata_documents", {"hosts": "a.example"}),
            ("client_id_metadata_documents", {"hosts": ["https://a.example"]}),
            ("client_id_metadata_documents", {"hosts": ["A.example"]}),
            ("client_id_metadata_documents", {"hosts": ["a.example:443"]}),
            ("client_id_metadata_documents", {"hosts": ["a.example\n"]}),
            ("client_id_metadata_documents", {"hosts": None}),
            ("dynamic_registration", {"mode": "on"}),
            ("dynamic_registration", {"mode": None}),
            ("dynamic_registration", {"allowed_scopes": ["a b"]}),
            ("dynamic_registration", {"allowed_scopes": [1]}),
            ("dynamic_registration", {"redirect_hosts": [""]}),
            ("dynamic_registration", {"default_days": 0}),
            ("dynamic_registration", {"default_days": 366}),
            ("dynamic_registration", {"default_days": "30"}),
        ],
    )
    def test_decision_P2_a_wrong_value_is_refused_by_its_field(self, admin, field, value):
        refused = refusal_of(admin.patch(PATH, **{"plain_oauth": True, field: value}), 400)

        assert refused.startswith(field)
        assert result_of(admin.get(PATH)) == DEFAULTS


@pytest.mark.parametrize(
    "field",
    [
        "session_idle_seconds",
        "session_absolute_seconds",
        "refresh_token_idle_seconds",
        "refresh_token_absolute_seconds",
    ],
)
class TestLifetimes:
    def test_decision_Q15_null_or_up_to_the_value_of_the_installation(self, admin, field):
        longest = getattr(settings, field.upper())

        for value in (1, longest, None):
            assert result_of(admin.patch(PATH, **{field: value}))[field] == value
        wrong: Any
        for wrong in (0, -1, longest + 1, 2**31, 2**70, "60", 60.0, True, [], {}):
            refused = refusal_of(admin.patch(PATH, **{field: wrong}), 400)
            assert refused.startswith(field), wrong
        said = refusal_of(admin.patch(PATH, **{field: longest + 1}), 400)
        assert f"at most {longest}, the value of {field.upper()}" in said
        assert result_of(admin.get(PATH)) == DEFAULTS


class TestTheOperatorsSite:
    def test_it_shows_the_defaults_and_changes_them(self, acme, operator, admin):
        row_url = operator.get("/admin/oidc_settings/oidcsettings/").headers["Location"]
        page = operator.get(row_url)
        lifetimes = row_url.replace("/change/", "/do/lifetimes/")

        changed = operator.submit(lifetimes, session_idle_seconds="600", keep_signed_in="on")
        refused = operator.submit(lifetimes, session_idle_seconds="99999999")

        assert "As the installation" in page.text
        assert changed.status_code == 303
        assert refused.status_code == 400
        assert "must be at most 86400" in refused.text
        assert result_of(admin.get(PATH)) == DEFAULTS | {"session_idle_seconds": 600, "keep_signed_in": True}

    def test_the_settings_of_another_tenant_are_unknown(self, acme, rival, operator):
        with rival.active():
            theirs = services.current().pk

        assert operator.get(f"/admin/oidc_settings/oidcsettings/{theirs}/change/").status_code == 404


def refuse(row, changed):
    """An effect that fails."""
    assert changed == {"keep_signed_in"}
    raise ZeroDivisionError(row.pk)


def test_two_first_changes_at_once_are_both_kept(address):
    for _ in range(rounds(4)):
        admin = management.superuser(cast.new_world("First"))
        changes = [{"keep_signed_in": True}, {"device_flow": True}]

        at_once(2, lambda n, admin=admin, changes=changes: result_of(admin.patch(PATH, **changes[n])))

        shown = result_of(admin.get(PATH))
        assert (shown["keep_signed_in"], shown["device_flow"]) == (True, True)
