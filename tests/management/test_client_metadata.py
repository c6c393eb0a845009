"""What an application says of itself: links, logo, contacts, and where a sign-in begins."""

import pytest
from django.test import override_settings

from oidc.applications.client_metadata import ClientMetadataSerializer
from oidc.applications.models import Application
from tests.support import management
from tests.support.admin_pages import operate
from tests.support.management import refusal_of, result_of

CALLBACK = "https://rp.example/callback"
URLS = ("client_uri", "logo_uri", "policy_uri", "tos_uri", "initiate_login_uri")
METADATA = {
    "client_uri": "https://rp.example",
    "logo_uri": "https://cdn.rp.example:8443/logo.svg?v=2",
    "policy_uri": "https://rp.example/privacy",
    "tos_uri": "https://rp.example/terms#en",
    "contacts": ["ada@rp.example", "ops@rp.example"],
    "initiate_login_uri": "https://rp.example/login?tenant=acme",
}


@pytest.fixture
def web(admin):
    return admin.created("/applications", name="Web", type="Traditional")


def patched(admin, web, **metadata):
    return admin.patch(f"/applications/{web['id']}", oidc_client_metadata=metadata)


class TestP15:
    def test_decision_P15_is_kept_and_shown(self, admin, web):
        created = admin.created("/applications", name="B", type="SPA", oidc_client_metadata=METADATA)
        changed = result_of(patched(admin, web, **METADATA))
        listed = result_of(admin.get("/applications"))["data"]

        for shown in (created, changed, *listed):
            assert METADATA.items() <= shown["oidc_client_metadata"].items()

    def test_decision_P15_is_changed_one_by_one_and_cleared(self, admin, web):
        result_of(patched(admin, web, **METADATA))

        changed = result_of(patched(admin, web, logo_uri="", tos_uri=None, contacts=[]))

        expected = METADATA | {"logo_uri": "", "tos_uri": "", "contacts": []}
        assert expected.items() <= changed["oidc_client_metadata"].items()
        assert changed["oidc_client_metadata"]["redirect_uris"] == []

    @pytest.mark.parametrize("field", URLS)
    @pytest.mark.parametrize(
        "wrong",
        [
            *("http://rp.example/", "javascript:alert(1)", "data:text/html,x", "//rp.example", "/logo.png"),
            *("rp.example", "ftp://rp.example/", "https://", "https:///x", "https://user@rp.example/"),
            *(
                "https://rp.example\\@evil.example/",
                "https://rp.example/\u202egnp",
                "https://b\u00fccher.example",
            ),
            *("https://rp.example/a b", "https://rp.example/\n", "https://rp.example:99999/", '"><script>'),
            *("https://rp.example/" + "x" * 2_030, 1, True, ["https://rp.example/"], {}),
        ],
    )
    def test_decision_P15_a_url_is_https(self, admin, web, field, wrong):
        message = refusal_of(patched(admin, web, **{field: wrong}), 400)

        assert message.startswith(f"oidc_client_metadata.{field}: ")
        assert result_of(admin.get(f"/applications/{web['id']}"))["oidc_client_metadata"][field] == ""

    @pytest.mark.parametrize(
        "wrong",
        [
            *(
                "ada@rp.example",
                None,
                [""],
                ["ada"],
                ["ada@"],
                ["a b@rp.example"],
                ["a@rp.example\n"],
                [1],
                [None],
            ),
            *(
                ["a@rp.example, b@rp.example"],
                ["x" * 250 + "@rp.example"],
                [f"{n}@rp.example" for n in range(11)],
            ),
        ],
    )
    def test_decision_P15_contacts_are_at_most_ten_addresses(self, admin, web, wrong):
        message = refusal_of(patched(admin, web, contacts=wrong), 400)

        assert message.startswith("oidc_client_metadata.contacts")

    @pytest.mark.parametrize("query", ["iss=x", "a=b&login_hint=ada", "target_link_uri=", "%69ss=x"])
    def test_decision_P56_the_login_address_has_no_parameter_of_ours(self, admin, web, query):
        message = refusal_of(patched(admin, web, initiate_login_uri=f"https://rp.example/?{query}"), 400)

        assert message.startswith("oidc_client_metadata.initiate_login_uri: must not have the parameter ")

    def test_decision_P56_the_login_address_has_no_fragment(self, admin, web):
        message = refusal_of(patched(admin, web, initiate_login_uri="https://rp.example/#x"), 400)

        assert message == "oidc_client_metadata.initiate_login_uri: must not have a fragment"

    @pytest.mark.parametrize(
        ("url", "is_development", "is_valid"),
        [
            ("http://localhost:3000/logo.png", True, True),
            ("http://127.0.0.1/", True, True),
            ("http://[::1]:3000/", True, True),
            ("http://rp.example/", True, False),
            ("http://localhost.evil.example/", True, False),
            ("http://localhost:3000/", False, False),
        ],
    )
    def test_decision_P15_http_is_for_loopback_in_development(self, url, is_development, is_valid):
        with override_settings(DEVELOPMENT=is_development):
            serializer = ClientMetadataSerializer(data=dict.fromkeys(URLS, url))

            assert serializer.is_valid() == is_valid

    def test_decision_T2_P15_of_another_tenant_is_unknown(self, admin, web, rival):
        refusal_of(patched(management.superuser(rival), web, **METADATA), 404)


class TestOperatorsSite:
    def test_decision_P15_is_edited(self, acme, admin, operator, web):
        with acme.active():
            row = Application.objects.get(pk=web["id"])

        fields = METADATA | {"contacts": "ada@rp.example\nops@rp.example\n"}
        answer = operate(operator, "applications/application", row, "describe", **fields)

        assert answer.status_code == 303
        shown = result_of(admin.get(f"/applications/{web['id']}"))["oidc_client_metadata"]
        assert METADATA.items() <= shown.items()
        form = operator.get(f"/admin/applications/application/{web['id']}/do/describe/").text
        assert all(text in form for text in (METADATA["logo_uri"], "ada@rp.example\nops@rp.example"))

    def test_decision_P15_a_bad_url_is_shown_at_its_field(self, acme, admin, operator, web):
        with acme.active():
            row = Application.objects.get(pk=web["id"])

        answer = operate(
            operator, "applications/application", row, "describe", tos_uri="javascript:alert(1)", contacts="x"
        )

        assert answer.status_code == 400
        assert "must be an https URL" in answer.text
        assert "must be an email address" in answer.text
