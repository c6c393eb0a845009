"""The latest errors, sign-ins and consents on the page of an application."""

import re
from html import unescape

from oidc.grants.models import Consent
from tests.support import operators
from tests.support.application_page import KIND, page_of
from tests.support.operators import administrator


def panel_of(page, title):
    """The panel with a title."""
    (found,) = [part for part in re.findall(r'<section class="card panel">.*?</section>', page, re.DOTALL)
                if f">{title}</h3>" in part]  # fmt: skip
    return found


class TestActivity:
    def test_it_shows_sign_ins_with_their_users(self, acme, operator):
        client, user = acme.application(), acme.user(name="Ada Lovelace")
        client.tokens_for(user)

        panel = panel_of(page_of(operator, client.application), "Latest sign-ins")

        assert "Ada Lovelace" in panel
        assert f"/admin/users/user/{user.pk}/change/" in panel
        assert "openid" in panel

    def test_the_sample_code_is_folded_once_a_sign_in_has_succeeded(self, acme, operator):
        client, path = acme.application("SPA"), "?framework="

        client.redeem("no-such-code")
        before = page_of(operator, client.application)
        client.tokens_for(acme.user())
        after = page_of(operator, client.application)
        chosen = operator.get(f"/admin/{KIND}/{client.application.pk}/change/{path}next").text

        folded = [
            re.findall(r'aria-labelledby="guide">\s*<details( open)?>', page)
            for page in (before, after, chosen)
        ]
        assert folded == [[" open"], [""], [" open"]]

    def test_it_shows_the_true_reason_of_an_error(self, acme, operator):
        client = acme.application()
        client.redeem("no-such-code")

        panel = panel_of(page_of(operator, client.application), "Latest errors")

        assert "Issuing tokens" in panel
        assert "The code or refresh token is no longer valid" in panel

    def test_consents_can_be_revoked_by_administrators_alone(self, acme, operator):
        client, user = acme.application(is_third_party=True), acme.user(name="Ada Lovelace")
        with acme.active():
            Consent.objects.create(user=user, application=client.application, scopes=["openid", "email"])
        auditor = operators.at(acme, administrator(tenants=[acme.tenant.slug], role="auditor"))

        own = panel_of(page_of(operator, client.application), "Latest consents")
        read = panel_of(page_of(auditor, client.application), "Latest consents")

        assert f"/admin/users/user/{user.pk}/do/disconnect/" in own
        assert "openid email" in own
        assert "Ada Lovelace" in read
        assert "disconnect" not in read

    def test_another_tenants_entries_are_not_there(self, acme, rival, operator):
        theirs = rival.application()
        theirs.tokens_for(rival.user(name="Eve Elsewhere"))
        own = acme.application().application

        page = unescape(operator.get(f"/admin/{KIND}/{own.pk}/change/").text)

        assert "None among the latest" in page
        assert "Eve Elsewhere" not in page
