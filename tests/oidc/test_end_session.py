"""GET and POST /oidc/end-session: RP-initiated logout."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from django.db.models.functions import Now

from audit.models import Entry
from identity.sessions.models import Session
from identity.users import services as users
from identity.users.models import User
from oidc.applications import services as applications
from oidc.keys import services as keys
from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support import cast, independent
from tests.support.cast import Browser, RelyingParty, World

PATH = "/oidc/end-session"
HOME = "https://rp.example/bye"
STATE = "s" * 128


@dataclass
class Visit:
    """A person signed in at an application, and what the application holds."""

    world: World
    browser: Browser
    client: RelyingParty
    user: User
    tokens: dict[str, Any]

    @property
    def hint(self) -> str:
        return str(self.tokens["id_token"])

    def end(self, **parameters: str) -> httpx.Response:
        return self.browser.get(PATH, params=parameters)

    def is_signed_in(self) -> bool:
        return is_signed_in(self.browser, self.client)


def is_signed_in(browser: Browser, client: RelyingParty) -> bool:
    """Ask as an application would: silently."""
    answer = browser.authorize(client, prompt="none")
    said = cast.query_of(answer.headers["Location"])
    assert "code" in said or said["error"] == "login_required", said
    return "code" in said


def visit(world: World, client: RelyingParty | None = None, user: User | None = None, **parameters) -> Visit:
    client = client or world.application(post_logout_redirect_uris=[HOME])
    user, browser = user or world.user(), world.browser()
    return Visit(world, browser, client, user, client.tokens_for(user, browser, **parameters))


@pytest.fixture
def here(acme):
    return visit(acme)


def hidden_fields(page: httpx.Response) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))


def is_asked(answer: httpx.Response) -> dict[str, str]:
    """Check that the person is asked, and return what the form would send."""
    assert answer.status_code == 200, answer.text
    assert "Location" not in answer.headers
    fields = hidden_fields(answer)
    assert fields["confirm"] == "yes"
    assert fields["csrfmiddlewaretoken"]
    return fields


def is_signed_out_page(answer: httpx.Response) -> None:
    assert answer.status_code == 200, answer.text
    assert "Location" not in answer.headers
    assert "You are signed out" in answer.text
    assert answer.headers["Cache-Control"] == "no-store"


def is_refused(answer: httpx.Response) -> None:
    assert answer.status_code == 400, answer.text
    assert "Location" not in answer.headers
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "You were not signed out" in answer.text


def is_sent_to(answer: httpx.Response, target: str, **parameters: str) -> None:
    """Check that the browser goes to a target with exactly these parameters added."""
    assert answer.status_code == 303, answer.text
    location, _, query = answer.headers["Location"].partition("?")
    assert location == target
    assert dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))) == parameters


class TestWithAHint:
    """A valid hint of this browser's session."""

    def test_decision_O11_signs_out_and_redirects_at_once(self, here):
        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME, state=STATE)

        is_sent_to(answer, HOME, state=STATE)
        assert not here.is_signed_in()

    def test_conformance_redirects_without_a_state_that_nobody_sent(self, here):
        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        is_sent_to(answer, HOME)
        assert answer.headers["Location"] == HOME
        assert not here.is_signed_in()

    def test_conformance_without_a_target_there_is_a_page(self, here):
        answer = here.end(id_token_hint=here.hint, state=STATE)

        is_signed_out_page(answer)
        assert STATE not in answer.text
        assert not here.is_signed_in()

    def test_decision_O11_works_by_post_too(self, here):
        answer = here.browser.post(
            PATH, data={"id_token_hint": here.hint, "post_logout_redirect_uri": HOME, "state": STATE}
        )

        is_sent_to(answer, HOME, state=STATE)
        assert not here.is_signed_in()

    def test_decision_O11_a_cross_site_post_comes_back_as_a_get_that_brings_the_cookie(self, here):
        form = {"id_token_hint": here.hint, "post_logout_redirect_uri": HOME, "state": STATE}
        cross_site = {"Sec-Fetch-Site": "cross-site"}

        bounced = httpx.post(f"{here.world.address}{PATH}", data=form, headers=cross_site)
        answer = here.browser.get(bounced.headers["Location"])

        assert bounced.status_code == 303
        assert urlsplit(bounced.headers["Location"]).netloc == ""
        is_sent_to(answer, HOME, state=STATE)
        assert not here.is_signed_in()

    def test_decision_O11_a_client_id_that_agrees_changes_nothing(self, here):
        answer = here.end(
            id_token_hint=here.hint, client_id=here.client.client_id, post_logout_redirect_uri=HOME
        )

        is_sent_to(answer, HOME)
        assert not here.is_signed_in()

    def test_a_client_id_that_contradicts_the_hint_never_redirects(self, acme, here):
        other = acme.application(post_logout_redirect_uris=["https://other.example/"])

        for target in (HOME, "https://other.example/"):
            answer = here.end(
                id_token_hint=here.hint, client_id=other.client_id, post_logout_redirect_uri=target
            )

            is_refused(answer)
        assert here.is_signed_in()

    @pytest.mark.parametrize("named", ["other", "unknown"])
    def test_a_client_id_that_contradicts_the_hint_signs_nobody_out(self, acme, here, named):
        """RP-Initiated Logout 1.0 section 4: what failed to validate MUST NOT be used."""
        client_id = acme.application().client_id if named == "other" else named

        answer = here.end(id_token_hint=here.hint, client_id=client_id)

        is_refused(answer)
        assert here.is_signed_in()

    def test_decision_O11_expired_is_fine(self, here):
        claims = independent.claims_of(here.hint)
        with here.world.active():
            active = SigningKey.objects.active().get()
            long_ago = claims | {"iat": claims["iat"] - 90_000, "exp": claims["exp"] - 90_000}
            hint = signing.sign(long_ago, typ="JWT", key_id=active.pk)

        answer = here.end(id_token_hint=hint, post_logout_redirect_uri=HOME)

        is_sent_to(answer, HOME)
        assert not here.is_signed_in()

    def test_case_E11_a_hint_of_a_rotated_key_is_accepted(self, here):
        with here.world.active():
            keys.rotate()

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        is_sent_to(answer, HOME)
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

        is_sent_to(answer, HOME)
        assert not here.is_signed_in()

    def test_a_new_sign_in_of_the_same_person_keeps_the_hint_good(self, here):
        here.browser.sign_in(here.user)

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        is_sent_to(answer, HOME)
        assert not here.is_signed_in()

    def test_of_an_application_that_is_gone_never_redirects(self, here):
        with here.world.active():
            applications.remove(here.client.application)

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert "Location" not in answer.headers
        assert answer.status_code < 500


class TestWithAHintOfSomebodyElse:
    """Any other valid hint counts as none."""

    def test_case_E10_a_hint_of_another_person_signs_nobody_out(self, acme, here):
        other = visit(acme, here.client)

        answer = here.end(id_token_hint=other.hint, post_logout_redirect_uri=HOME)

        is_asked(answer)
        assert here.is_signed_in()
        assert other.is_signed_in()

    def test_decision_O11_a_hint_of_another_session_of_the_same_person_asks(self, acme, here):
        elsewhere = visit(acme, here.client, here.user)

        answer = here.end(id_token_hint=elsewhere.hint, post_logout_redirect_uri=HOME)

        is_asked(answer)
        assert here.is_signed_in()
        assert elsewhere.is_signed_in()

    def test_decision_O11_after_the_button_there_is_a_page_and_no_redirect(self, acme, here):
        other = visit(acme, here.client)
        fields = is_asked(here.end(id_token_hint=other.hint, post_logout_redirect_uri=HOME, state=STATE))

        answer = here.browser.post(PATH, data=fields)

        is_signed_out_page(answer)
        assert not here.is_signed_in()
        assert other.is_signed_in()

    def test_decision_T2_a_hint_of_another_tenant_is_forged_here(self, here, rival):
        stranger = visit(rival)

        answer = here.end(id_token_hint=stranger.hint, post_logout_redirect_uri=HOME)

        is_refused(answer)
        assert here.is_signed_in()
        assert stranger.is_signed_in()


class TestWithoutAHint:
    def test_case_E07_asks_and_does_nothing_yet(self, here):
        answer = here.end()

        is_asked(answer)
        assert here.user.username in answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        assert here.is_signed_in()

    def test_case_E07_the_button_signs_out(self, here):
        fields = is_asked(here.end())

        answer = here.browser.post(PATH, data=fields)

        is_signed_out_page(answer)
        assert not here.is_signed_in()

    def test_conformance_only_a_state_is_a_page_and_no_redirect(self, here):
        fields = is_asked(here.end(state=STATE))

        answer = here.browser.post(PATH, data=fields)

        is_signed_out_page(answer)
        assert not here.is_signed_in()

    def test_conformance_a_target_alone_asks_and_then_redirects_nowhere(self, here):
        fields = is_asked(here.end(post_logout_redirect_uri=HOME, state=STATE))

        answer = here.browser.post(PATH, data=fields)

        is_signed_out_page(answer)
        assert not here.is_signed_in()

    def test_decision_O11_with_a_client_id_the_button_leads_back(self, here):
        asked = here.end(client_id=here.client.client_id, post_logout_redirect_uri=HOME, state=STATE)
        fields = is_asked(asked)

        answer = here.browser.post(PATH, data=fields)

        assert here.client.application.name in asked.text
        is_sent_to(answer, HOME, state=STATE)
        assert not here.is_signed_in()

    def test_decision_O11_with_a_client_id_alone_there_is_a_page(self, here):
        fields = is_asked(here.end(client_id=here.client.client_id))

        is_signed_out_page(here.browser.post(PATH, data=fields))
        assert not here.is_signed_in()

    @pytest.mark.parametrize(
        "spoilt",
        [
            {"csrfmiddlewaretoken": None},
            {"csrfmiddlewaretoken": "x" * 64},
            {"csrfmiddlewaretoken": ""},
            {"confirm": None},
            {"confirm": "no"},
        ],
        ids=["no token", "wrong token", "empty token", "no confirmation", "another word"],
    )
    def test_case_E07_without_the_token_of_the_form_nothing_happens(self, here, spoilt):
        fields = is_asked(here.end()) | spoilt

        answer = here.browser.post(PATH, data={name: value for name, value in fields.items() if value})

        assert answer.status_code in {200, 403}
        assert "You are signed out" not in answer.text
        assert here.is_signed_in()

    def test_case_E07_the_token_of_another_browser_does_not_do(self, acme, here):
        stranger = visit(acme)
        theirs = is_asked(stranger.end())

        answer = here.browser.post(PATH, data=theirs)

        assert "You are signed out" not in answer.text
        assert here.is_signed_in()

    def test_case_E07_a_form_of_another_origin_does_not_do(self, here):
        fields = is_asked(here.end())

        answer = here.browser.post(PATH, data=fields, headers={"Origin": "https://evil.example"})

        assert "You are signed out" not in answer.text
        assert here.is_signed_in()

    def test_case_E07_a_confirmation_by_get_does_not_do(self, here):
        fields = is_asked(here.end())

        answer = here.end(**fields)

        is_asked(answer)
        assert here.is_signed_in()

    @pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"])
    def test_case_L12_no_other_method_signs_out(self, here, method):
        answer = here.browser.http.request(
            method, f"{here.world.address}{PATH}", params={"id_token_hint": here.hint}
        )

        assert answer.status_code in {204, 403, 405}
        assert here.is_signed_in()

    def test_the_page_shows_nothing_a_client_sent_unescaped(self, here):
        nasty = '"><script>alert(1)</script>'

        answer = here.end(client_id=here.client.client_id, state=nasty, post_logout_redirect_uri=HOME)

        assert "<script>alert" not in answer.text


class TestWithoutASession:
    """Nobody is signed in: nothing to lose."""

    def test_decision_O11_redirects_at_once_to_a_uri_of_the_client(self, acme):
        client = acme.application(post_logout_redirect_uris=[HOME])

        answer = acme.browser().get(
            PATH,
            params={"client_id": client.client_id, "post_logout_redirect_uri": HOME, "state": STATE},
        )

        is_sent_to(answer, HOME, state=STATE)

    def test_decision_O11_without_a_client_any_application_of_the_tenant_will_do(self, acme):
        acme.application(post_logout_redirect_uris=["https://rp.example/elsewhere"])
        acme.application(post_logout_redirect_uris=[HOME])

        answer = acme.browser().get(PATH, params={"post_logout_redirect_uri": HOME, "state": STATE})

        is_sent_to(answer, HOME, state=STATE)

    def test_decision_O11_the_session_may_have_ended_long_ago(self, here):
        with here.world.active():
            Session.objects.update(expires_at=Now() - timedelta(days=30))

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME, state=STATE)

        is_sent_to(answer, HOME, state=STATE)

    def test_decision_T2_not_to_an_application_of_another_tenant(self, acme, rival):
        theirs = rival.application(post_logout_redirect_uris=[HOME])

        for parameters in ({}, {"client_id": theirs.client_id}):
            answer = acme.browser().get(PATH, params=parameters | {"post_logout_redirect_uri": HOME})

            is_refused(answer)

    def test_decision_O11_a_uri_of_another_client_is_not_good_for_this_one(self, acme):
        acme.application(post_logout_redirect_uris=[HOME])
        client = acme.application(post_logout_redirect_uris=["https://rp.example/elsewhere"])

        answer = acme.browser().get(
            PATH, params={"client_id": client.client_id, "post_logout_redirect_uri": HOME}
        )

        is_refused(answer)

    def test_an_unknown_client_is_good_for_nothing(self, acme):
        acme.application(post_logout_redirect_uris=[HOME])

        for client_id in ("unknown", "0" * 24, "\u00e9", "'"):
            answer = acme.browser().get(
                PATH, params={"client_id": client_id, "post_logout_redirect_uri": HOME}
            )

            is_refused(answer)

    def test_says_that_nobody_is_signed_in(self, acme):
        is_signed_out_page(acme.browser().get(PATH))


EVIL_FOR_A_LIST = [
    "https://rp.example/bye/",
    "https://rp.example/bye?foo=bar",
    "https://rp.example/bye#x",
    "https://rp.example/BYE",
    "https://rp.example/by",
    "https://rp.example/bye2",
    "https://rp.example/./bye",
    "https://rp.example/x/../bye",
    "https://rp.example/b%79e",
    "https://rp.example:443/bye",
    "https://RP.example/bye",
    "http://rp.example/bye",
    "//rp.example/bye",
    "/bye",
    "https://rp.example.evil.example/bye",
    "https://rp.example@evil.example/bye",
    "https://evil.example/bye",
    " https://rp.example/bye",
    "https://rp.example/bye ",
    "https://rp.example/bye\n",
    "https://rp.example/callback",
    "javascript:alert(1)",
]

# What a browser understands otherwise than we might.
EVIL_FOR_AN_ORIGIN = [
    "https://evil.example/",
    "https://evil.example\\@rp.example/",
    "https://evil.example\\.rp.example/",
    "https://evil.example%5c@rp.example/",
    "https://evil.example@rp.example/",
    "https://rp.example@evil.example/",
    "https://rp.example:pw@evil.example/",
    "https://rp.example.evil.example/",
    "https://rp.example\\evil.example/",
    "https://rp.example:444/",
    "https://rp.example:99999/",
    "https://rp.example:port/",
    "http://rp.example/",
    "https:rp.example/",
    "https:///rp.example/",
    "https://\\rp.example/",
    "//rp.example/",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "rp.example",
    "https://[rp.example/",
    "https://rp.example/\r\nSet-Cookie: a=b",
    "https://rp.example/\r\n\r\n<script>",
    "https://rp.example/\ttab",
    "https://rp.\nexample/",
    "https://rp.example/a b",
    "https://rp.example/\u00e9",
    "https://rp.example/\u2028",
    "https://rp\u3002example/",
    "https://\uff52\uff50.example/",
    "https://rp.example/#fragment",
    "https://rp.example/%zz\x7f",
    "javascript:alert('https://rp.example/')",
    "data:text/html,https://rp.example/",
    "com.example.app:/bye",
]


class TestTargets:
    """Which URIs are good."""

    @pytest.mark.parametrize("target", EVIL_FOR_A_LIST)
    def test_case_E08_where_targets_are_listed_only_the_very_same_is_good(self, here, target):
        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=target, state="x")

        is_refused(answer)
        assert here.is_signed_in()

    @pytest.mark.parametrize(
        "target",
        [
            "https://rp.example/",
            "https://rp.example",
            "https://rp.example/any/path",
            "https://rp.example/?a=b",
        ],
    )
    def test_decision_O11_where_none_is_listed_any_uri_on_the_origin_is_good(self, acme, target):
        here = visit(acme, acme.application())

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=target, state="a b&c")

        assert answer.status_code == 303
        joint = "&" if "?" in target else "?"
        assert answer.headers["Location"] == f"{target}{joint}state=a+b%26c"
        assert not here.is_signed_in()

    @pytest.mark.parametrize("target", EVIL_FOR_AN_ORIGIN)
    def test_decision_O11_a_uri_that_a_browser_reads_otherwise_is_not_on_the_origin(self, acme, target):
        here = visit(acme, acme.application())

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=target, state="x")

        is_refused(answer)
        assert here.is_signed_in()

    @pytest.mark.parametrize("target", EVIL_FOR_AN_ORIGIN)
    def test_decision_O11_nor_for_a_browser_that_has_no_session(self, acme, target):
        acme.application()

        answer = acme.browser().get(PATH, params={"post_logout_redirect_uri": target})

        is_refused(answer)

    def test_case_E09_a_uri_of_another_application_is_not_good(self, acme, here):
        acme.application(post_logout_redirect_uris=["https://b.example/bye"])
        acme.application(redirect_uris=["https://c.example/cb"])

        for target in ("https://b.example/bye", "https://c.example/"):
            is_refused(here.end(id_token_hint=here.hint, post_logout_redirect_uri=target))

        assert here.is_signed_in()

    def test_a_listed_target_with_a_query_keeps_it(self, acme):
        client = acme.application(post_logout_redirect_uris=[f"{HOME}?tab=1"])
        here = visit(acme, client)

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=f"{HOME}?tab=1", state="x")

        assert answer.headers["Location"] == f"{HOME}?tab=1&state=x"

    def test_a_native_application_may_list_its_scheme(self, acme):
        client = acme.application(
            "Native",
            redirect_uris=["com.example.app:/callback"],
            post_logout_redirect_uris=["com.example.app:/bye"],
        )
        here = visit(acme, client)

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri="com.example.app:/bye")

        is_sent_to(answer, "com.example.app:/bye")


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

        is_refused(answer)
        assert here.is_signed_in()

    def test_conformance_bad_hint_of_a_foreign_key(self, here):
        stranger = ec.generate_private_key(ec.SECP256R1())
        headers = {"kid": independent.header_of(here.hint)["kid"]}
        hint = jwt.encode(independent.claims_of(here.hint), stranger, algorithm="ES256", headers=headers)

        answer = here.end(id_token_hint=hint, post_logout_redirect_uri=HOME, state=STATE)

        is_refused(answer)
        assert here.is_signed_in()

    def test_signed_with_the_public_key_as_a_secret(self, here):
        public = next(iter(independent.key_set(here.world)["keys"]))
        headers = {"kid": public["kid"]}
        secret = (public["x"] + public["y"]).encode()
        hint = jwt.encode(independent.claims_of(here.hint), secret, algorithm="HS256", headers=headers)

        is_refused(here.end(id_token_hint=hint, post_logout_redirect_uri=HOME))
        assert here.is_signed_in()

    def test_decision_O1_an_access_token_is_no_hint(self, here):
        answer = here.end(id_token_hint=here.tokens["access_token"], post_logout_redirect_uri=HOME)

        is_refused(answer)
        assert here.is_signed_in()

    def test_claims_of_another_issuer_under_our_key_are_no_hint(self, here):
        with here.world.active():
            active = SigningKey.objects.active().get()
            claims = independent.claims_of(here.hint) | {"iss": "https://elsewhere.example"}
            hint = signing.sign(claims, typ="JWT", key_id=active.pk)

        is_refused(here.end(id_token_hint=hint, post_logout_redirect_uri=HOME))
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

        is_refused(answer)

    @pytest.mark.parametrize("changes", [{"sub": "x"}, {"sid": "x"}, {"aud": ["a", "b"]}, {"aud": None}])
    def test_a_hint_that_we_signed_but_would_not_write_breaks_nothing(self, here, changes):
        with here.world.active():
            active = SigningKey.objects.active().get()
            claims = independent.claims_of(here.hint) | changes
            hint = signing.sign(claims, typ="JWT", key_id=active.pk)

        answer = here.end(id_token_hint=hint, post_logout_redirect_uri=HOME)

        assert answer.status_code in {200, 400}
        assert "Location" not in answer.headers


class TestState:
    @pytest.mark.parametrize(
        "state",
        ["", "a+b c&d=e#f", "\r\nSet-Cookie: x=y", "\u2603 \U0001f600", '"><script>', "x" * 8_000, "%0d%0a"],
        ids=["empty", "reserved", "CRLF", "unicode", "markup", "8 kB", "escaped CRLF"],
    )
    def test_case_E12_comes_back_unchanged_or_is_refused(self, here, state):
        answer = here.browser.post(
            PATH, data={"id_token_hint": here.hint, "post_logout_redirect_uri": HOME, "state": state}
        )

        is_sent_to(answer, HOME, state=state)
        assert "x" not in [cookie.value for cookie in here.browser.http.cookies.jar]
        assert "Set-Cookie: x" not in str(answer.headers)

    @pytest.mark.parametrize("name", ["post_logout_redirect_uri", "state", "id_token_hint", "client_id"])
    def test_a_repeated_parameter_never_redirects_to_the_second(self, here, name):
        first = {
            "id_token_hint": here.hint,
            "client_id": here.client.client_id,
            "post_logout_redirect_uri": HOME,
            "state": "first",
        }
        pairs = [*first.items(), (name, "https://evil.example/")]

        answer = here.browser.get(PATH, params=pairs)

        is_refused(answer)
        assert here.is_signed_in()

    @pytest.mark.parametrize("name", ["logout_hint", "ui_locales"])
    def test_a_repeated_parameter_is_refused_though_it_changes_little(self, here, name):
        answer = here.browser.get(PATH, params=[("id_token_hint", here.hint), (name, "a"), (name, "b")])

        is_refused(answer)
        assert here.is_signed_in()

    def test_a_state_without_a_target_is_told_to_nobody(self, here):
        answer = here.end(id_token_hint=here.hint, state="to nobody")

        is_signed_out_page(answer)
        assert "to nobody" not in answer.text

    @pytest.mark.parametrize(
        "query", ["id_token_hint=%00", "state=%ff%fe", "&".join("a=1" for _ in range(200))]
    )
    def test_what_cannot_be_read_is_refused(self, here, query):
        answer = here.browser.get(f"{PATH}?{query}")

        is_refused(answer)
        assert here.is_signed_in()

    def test_a_post_of_another_type_is_refused(self, here):
        answer = here.browser.post(PATH, json={"id_token_hint": here.hint})

        assert answer.status_code in {400, 415}
        assert here.is_signed_in()


class TestWhatEnds:
    def test_case_E13_the_old_cookie_is_worth_nothing(self, acme, here):
        stolen = dict(here.browser.http.cookies.items())
        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)
        thief = acme.browser()
        thief.http.cookies.update(stolen)

        assert not is_signed_in(thief, here.client)
        assert thief.get("/account").status_code == 303

    def test_decision_O11_the_cookies_end(self, here):
        names = [name for name in here.browser.http.cookies if "csrf" not in name]
        assert len(names) == 3

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        gone = [line for line in answer.headers.get_list("Set-Cookie") if "Max-Age=0" in line]
        # Which people a browser signed in before outlives their sessions.
        assert {line.partition("=")[0] for line in gone} == {name for name in names if "known" not in name}
        for line in gone:
            assert "HttpOnly" in line
            assert "SameSite=Lax" in line
            assert "Path=/" in line

    def test_case_E13_the_account_page_is_not_kept_for_the_back_button(self, here):
        assert here.browser.get("/account").headers["Cache-Control"] == "no-store"

    def test_decision_O11_access_tokens_without_a_family_end(self, acme):
        here = visit(acme, scope="openid profile")
        assert "refresh_token" not in here.tokens
        assert here.client.userinfo(here.tokens["access_token"]).status_code == 200

        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert here.client.userinfo(here.tokens["access_token"]).status_code == 401

    def test_case_D18_families_live_on_with_their_access_tokens(self, here):
        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert not here.is_signed_in()
        assert here.client.userinfo(here.tokens["access_token"]).status_code == 200
        refreshed = here.client.refresh(here.tokens["refresh_token"])
        assert refreshed.status_code == 200
        assert here.client.userinfo(refreshed.json()["access_token"]).status_code == 200

    def test_decision_O11_other_sessions_stay(self, acme, here):
        elsewhere, somebody = visit(acme, here.client, here.user), visit(acme, here.client)

        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert not here.is_signed_in()
        assert elsewhere.is_signed_in()
        assert somebody.is_signed_in()

    def test_case_J16_whoever_signs_in_next_is_a_stranger_to_the_old_hint(self, acme, here):
        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)
        successor = acme.user()
        here.client.tokens_for(successor, here.browser)

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        is_asked(answer)
        assert here.is_signed_in()

    def test_codes_that_were_not_redeemed_end(self, here):
        code = cast.query_of(here.browser.authorize(here.client).headers["Location"])["code"]

        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert here.client.redeem(code).json()["error"] == "invalid_grant"

    def test_case_G07_sessions_of_other_tenants_stay(self, here, rival):
        there = rival.application()
        rival_user = rival.user()
        abroad = Browser(rival, here.browser.http)
        there.tokens_for(rival_user, abroad)

        here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert not here.is_signed_in()
        assert is_signed_in(abroad, there)

    def test_decision_A1_is_written_down_once(self, here):
        for _ in range(2):
            here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        entries = Entry.objects.filter(tenant_id=here.world.tenant.pk, key="Session.End")
        sid = independent.claims_of(here.hint)["sid"]
        assert [(entry.user_id, entry.payload) for entry in entries] == [
            (str(here.user.pk), {"session_id": sid})
        ]

    def test_a_suspended_person_has_no_session_to_end(self, here):
        with here.world.active():
            users.suspend(here.user)

        answer = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME, state=STATE)

        is_sent_to(answer, HOME, state=STATE)


class TestThePage:
    def test_decision_O11_takes_hints_and_whatever_else(self, here):
        answer = here.end(
            id_token_hint=here.hint,
            logout_hint="<b>ada</b>",
            ui_locales="xx",
            foo="1",
            post_logout_redirect_uri=HOME,
        )

        is_sent_to(answer, HOME)

    def test_decision_O11_speaks_the_first_language_that_we_know(self, here):
        asked = here.end(ui_locales="tlh de-AT en")
        fields = is_asked(asked)

        done = here.browser.post(PATH, data=fields)

        assert 'lang="de"' in asked.text
        assert 'lang="de"' in done.text
        assert not here.is_signed_in()

    def test_decision_O11_speaks_it_to_a_post_as_well(self, acme):
        page = acme.post(PATH, data={"ui_locales": "ja"})

        assert 'lang="ja"' in page.text
        assert page.headers["Content-Language"] == "ja"

    def test_case_J06_J07_allows_no_frame_no_inline_script_and_no_referrer_abroad(self, here):
        answer = here.end()

        policy = answer.headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Referrer-Policy"] in {"no-referrer", "same-origin"}

    def test_every_address_in_it_is_in_the_tenant(self, here):
        answer = here.end()

        actions = re.findall(r'(?:action|href)="(/[^"]*)"', answer.text)
        prefix = f"/t/{here.world.tenant.slug}/"
        assert actions
        assert all(address.startswith((prefix, "/static/")) for address in actions)

    def test_a_redirect_after_the_button_is_allowed_by_the_policy_of_the_page(self, acme):
        client = acme.application(
            "Native",
            redirect_uris=["com.example.app:/callback"],
            post_logout_redirect_uris=["com.example.app:/bye", "http://127.0.0.1:5000/bye"],
        )
        here = visit(acme, client)

        for target, source in [
            ("com.example.app:/bye", "com.example.app:"),
            ("http://127.0.0.1:5000/bye", "http://127.0.0.1:*"),
        ]:
            asked = here.end(client_id=client.client_id, post_logout_redirect_uri=target)

            is_asked(asked)
            policy = dict(part.split(" ", 1) for part in asked.headers["Content-Security-Policy"].split("; "))
            assert source in policy["form-action"].split()
