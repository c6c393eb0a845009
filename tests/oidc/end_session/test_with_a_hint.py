"""RP-initiated logout with an ID token: of this session, of another one, or forged."""

from urllib.parse import urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from oidc.applications import services as applications
from oidc.keys import services as keys
from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support import independent
from tests.support.end_session import (
    HOME,
    PATH,
    STATE,
    is_asked,
    is_refused,
    is_signed_out_page,
    question,
    sent_to,
    visit,
)


class TestWithAHint:
    """A valid hint of this browser's session."""

    def test_decision_O11_signs_out_and_redirects_at_once(self, here):
        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME, state=STATE)

        assert sent_to(answer) == (HOME, {"state": STATE})
        assert not here.is_signed_in()

    def test_conformance_redirects_without_a_state_that_nobody_sent(self, here):
        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert sent_to(answer) == (HOME, {})
        assert answer.headers["Location"] == HOME
        assert not here.is_signed_in()

    def test_conformance_without_a_target_there_is_a_page(self, here):
        answer = here.end(id_token_hint=here.hint, state=STATE)

        assert is_signed_out_page(answer)
        assert STATE not in answer.text
        assert not here.is_signed_in()

    def test_decision_O11_works_by_post_too(self, here):
        answer = here.browser.post(
            PATH, data={"id_token_hint": here.hint, "post_logout_redirect_uri": HOME, "state": STATE}
        )

        assert sent_to(answer) == (HOME, {"state": STATE})
        assert not here.is_signed_in()

    @pytest.mark.parametrize(
        "headers",
        [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://rp.example"}, {"Origin": "null"}],
        ids=str,
    )
    def test_decision_O11_a_cross_site_post_comes_back_as_a_get_that_brings_the_cookie(self, here, headers):
        """Not all browsers send Sec-Fetch-Site, and none sends it to an address without TLS."""
        form = {"id_token_hint": here.hint, "post_logout_redirect_uri": HOME, "state": STATE}

        bounced = here.world.post(PATH, data=form, headers=headers)
        answer = here.browser.get(bounced.headers["Location"])

        assert bounced.status_code == 303
        assert urlsplit(bounced.headers["Location"]).netloc == ""
        assert sent_to(answer) == (HOME, {"state": STATE})
        assert not here.is_signed_in()

    def test_decision_O11_a_cross_site_post_that_is_too_long_for_a_get_asks(self, here):
        with here.world.active():
            active = SigningKey.objects.active().get()
            claims = independent.claims_of(here.hint) | {"filler": "x" * 8_000}
            hint = signing.sign(claims, typ="JWT", key_id=active.pk)
        form = {"id_token_hint": hint, "post_logout_redirect_uri": HOME, "state": STATE}

        bounced = here.world.post(PATH, data=form, headers={"Sec-Fetch-Site": "cross-site"})
        asked = here.browser.get(bounced.headers["Location"])
        answer = here.browser.post(PATH, data=question(asked))

        assert sent_to(answer) == (HOME, {"state": STATE})
        assert not here.is_signed_in()

    def test_a_cross_site_post_with_a_long_state_is_refused(self, here):
        form = {"id_token_hint": here.hint, "post_logout_redirect_uri": HOME, "state": "s" * 8_000}

        answer = here.world.post(PATH, data=form, headers={"Sec-Fetch-Site": "cross-site"})

        assert is_refused(answer)
        assert "8000 characters" in answer.text
        assert here.is_signed_in()

    def test_decision_O11_a_link_on_another_site_signs_out_at_once(self, here):
        sent = {"id_token_hint": here.hint, "post_logout_redirect_uri": HOME, "state": STATE}

        answer = here.browser.get(PATH, params=sent, headers={"Sec-Fetch-Site": "cross-site"})

        assert sent_to(answer) == (HOME, {"state": STATE})
        assert not here.is_signed_in()

    def test_decision_O11_a_client_id_that_agrees_changes_nothing(self, here):
        answer = here.end(
            id_token_hint=here.hint, client_id=here.client.client_id, post_logout_redirect_uri=HOME
        )

        assert sent_to(answer) == (HOME, {})
        assert not here.is_signed_in()

    def test_a_client_id_that_contradicts_the_hint_never_redirects(self, acme, here):
        other = acme.application(post_logout_redirect_uris=["https://other.example/"])

        for target in (HOME, "https://other.example/"):
            answer = here.end(
                id_token_hint=here.hint, client_id=other.client_id, post_logout_redirect_uri=target
            )

            assert is_refused(answer)
        assert here.is_signed_in()

    @pytest.mark.parametrize("named", ["other", "unknown"])
    def test_a_client_id_that_contradicts_the_hint_signs_nobody_out(self, acme, here, named):
        """RP-Initiated Logout 1.0 section 4: what failed to validate MUST NOT be used."""
        client_id = acme.application().client_id if named == "other" else named

        answer = here.end(id_token_hint=here.hint, client_id=client_id)

        assert is_refused(answer)
        assert here.is_signed_in()

    def test_decision_O11_expired_is_fine(self, here):
        claims = independent.claims_of(here.hint)
        with here.world.active():
            active = SigningKey.objects.active().get()
            long_ago = claims | {"iat": claims["iat"] - 90_000, "exp": claims["exp"] - 90_000}
            hint = signing.sign(long_ago, typ="JWT", key_id=active.pk)

        answer = here.end(id_token_hint=hint, post_logout_redirect_uri=HOME)

        assert sent_to(answer) == (HOME, {})
        assert not here.is_signed_in()

    def test_case_E11_a_hint_of_a_rotated_key_is_accepted(self, here):
        with here.world.active():
            keys.rotate()

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert sent_to(answer) == (HOME, {})
        assert not here.is_signed_in()

    def test_case_E11_a_hint_of_a_deleted_key_proves_nothing(self, here):
        assert here.end(id_token_hint=here.hint + "x").status_code == 400  # every worker reads the key
        with here.world.active():
            old = SigningKey.objects.get()
            keys.rotate()
            keys.remove(old)

        answers = [here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME) for _ in range(4)]

        assert all("Location" not in answer.headers for answer in answers)
        assert here.is_signed_in()

    def test_decision_O7_the_id_token_of_a_refresh_is_as_good(self, here):
        hint = here.client.refresh(here.tokens["refresh_token"]).json()["id_token"]

        answer = here.end(id_token_hint=hint, post_logout_redirect_uri=HOME)

        assert sent_to(answer) == (HOME, {})
        assert not here.is_signed_in()

    def test_a_new_sign_in_of_the_same_person_keeps_the_hint_good(self, here):
        here.browser.sign_in(here.user)

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert sent_to(answer) == (HOME, {})
        assert not here.is_signed_in()

    def test_of_an_application_that_is_gone_never_redirects(self, here):
        with here.world.active():
            applications.remove(here.client.application)

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert "Location" not in answer.headers
        assert answer.status_code < 500

    def test_of_an_application_that_is_gone_asks(self, here):
        with here.world.active():
            applications.remove(here.client.application)

        assert is_asked(here.end(id_token_hint=here.hint))

    def test_names_its_own_application_among_several(self, acme):
        homes = ["https://one.example/bye", "https://two.example/bye"]
        clients = [acme.application(post_logout_redirect_uris=[home]) for home in homes]

        for client, own, other in zip(clients, homes, reversed(homes), strict=True):
            here = visit(acme, client)
            refused = here.end(id_token_hint=here.hint, post_logout_redirect_uri=other)
            assert "Location" not in refused.headers
            assert sent_to(here.end(id_token_hint=here.hint, post_logout_redirect_uri=own)) == (own, {})


class TestWithAHintOfSomebodyElse:
    """Any other valid hint counts as none."""

    def test_case_E10_a_hint_of_another_person_signs_nobody_out(self, acme, here):
        other = visit(acme, here.client)

        answer = here.end(id_token_hint=other.hint, post_logout_redirect_uri=HOME)

        assert is_asked(answer)
        assert here.is_signed_in()
        assert other.is_signed_in()

    def test_decision_O11_a_hint_of_another_session_of_the_same_person_asks(self, acme, here):
        elsewhere = visit(acme, here.client, here.user)

        answer = here.end(id_token_hint=elsewhere.hint, post_logout_redirect_uri=HOME)

        assert is_asked(answer)
        assert here.is_signed_in()
        assert elsewhere.is_signed_in()

    def test_decision_O11_after_the_button_there_is_a_page_and_no_redirect(self, acme, here):
        other = visit(acme, here.client)
        fields = question(here.end(id_token_hint=other.hint, post_logout_redirect_uri=HOME, state=STATE))

        answer = here.browser.post(PATH, data=fields)

        assert is_signed_out_page(answer)
        assert not here.is_signed_in()
        assert other.is_signed_in()

    def test_decision_T2_a_hint_of_another_tenant_is_forged_here(self, here, rival):
        stranger = visit(rival)

        answer = here.end(id_token_hint=stranger.hint, post_logout_redirect_uri=HOME)

        assert is_refused(answer)
        assert here.is_signed_in()
        assert stranger.is_signed_in()


class TestForgedHints:
    """A forged hint never redirects."""

    def unsigned(self, hint: str, algorithm: str) -> str:
        _, payload, _ = hint.split(".")
        header = f'{{"alg":"{algorithm}","typ":"JWT","kid":"{independent.header_of(hint)["kid"]}"}}'
        return f"{jwt.utils.base64url_encode(header.encode()).decode()}.{payload}."

    @pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "ES256", ""])
    def test_conformance_modified_hint_without_a_signature(self, here, algorithm):
        hint = self.unsigned(here.hint, algorithm)

        answer = here.end(id_token_hint=hint, post_logout_redirect_uri=HOME, state=STATE)

        assert is_refused(answer)
        assert here.is_signed_in()

    def test_conformance_bad_hint_of_a_foreign_key(self, here):
        stranger = ec.generate_private_key(ec.SECP256R1())
        headers = {"kid": independent.header_of(here.hint)["kid"]}
        hint = jwt.encode(independent.claims_of(here.hint), stranger, algorithm="ES256", headers=headers)

        answer = here.end(id_token_hint=hint, post_logout_redirect_uri=HOME, state=STATE)

        assert is_refused(answer)
        assert here.is_signed_in()

    def test_signed_with_the_public_key_as_a_secret(self, here):
        public = next(iter(independent.key_set(here.world)["keys"]))
        headers = {"kid": public["kid"]}
        secret = (public["x"] + public["y"]).encode()
        hint = jwt.encode(independent.claims_of(here.hint), secret, algorithm="HS256", headers=headers)

        assert is_refused(here.end(id_token_hint=hint, post_logout_redirect_uri=HOME))
        assert here.is_signed_in()

    def test_decision_O1_an_access_token_is_no_hint(self, here):
        answer = here.end(id_token_hint=here.tokens["access_token"], post_logout_redirect_uri=HOME)

        assert is_refused(answer)
        assert here.is_signed_in()

    def test_claims_of_another_issuer_under_our_key_are_no_hint(self, here):
        with here.world.active():
            active = SigningKey.objects.active().get()
            claims = independent.claims_of(here.hint) | {"iss": "https://elsewhere.example"}
            hint = signing.sign(claims, typ="JWT", key_id=active.pk)

        assert is_refused(here.end(id_token_hint=hint, post_logout_redirect_uri=HOME))
        assert here.is_signed_in()

    @pytest.mark.parametrize(
        "hint",
        [
            "x",
            "..",
            "a.b.c",
            "e30.e30.e30",
            "null",
            "x" * 16_000,
            "\u00e9.\u00e9.\u00e9",
            "%00",
            "' OR 1=1 --",
        ],
        ids=range(9),
    )
    def test_case_A21_garbage_is_refused_and_breaks_nothing(self, here, hint):
        answer = here.end(id_token_hint=hint, post_logout_redirect_uri=HOME)

        assert answer.status_code in {400, 414}
        assert "Location" not in answer.headers
        assert here.is_signed_in()

    def test_without_a_session_it_does_not_redirect_either(self, acme, here):
        answer = acme.browser().get(
            PATH,
            params={
                "id_token_hint": self.unsigned(here.hint, "none"),
                "client_id": here.client.client_id,
                "post_logout_redirect_uri": HOME,
            },
        )

        assert is_refused(answer)

    @pytest.mark.parametrize("changes", [{"sub": "x"}, {"sid": "x"}, {"aud": ["a", "b"]}, {"aud": None}])
    def test_a_hint_that_we_signed_but_would_not_write_breaks_nothing(self, here, changes):
        with here.world.active():
            active = SigningKey.objects.active().get()
            claims = independent.claims_of(here.hint) | changes
            hint = signing.sign(claims, typ="JWT", key_id=active.pk)

        answer = here.end(id_token_hint=hint, post_logout_redirect_uri=HOME)

        assert answer.status_code in {200, 400}
        assert "Location" not in answer.headers
