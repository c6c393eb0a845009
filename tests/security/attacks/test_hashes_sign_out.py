"""Attacks on addresses that browsers are sent to: at sign-out, and where they are registered."""

from datetime import timedelta

import pytest

from identity.sessions import services as sessions
from identity.sessions.models import UNKNOWN_AUTH_TIME, Session
from oidc.applications.models import Application
from tests.support.cast import CALLBACK, World
from tests.support.end_session import (
    HOME,
    PATH,
    Visit,
    is_asked,
    is_refused,
    question,
    sent_to,
    visit,
)
from tests.support.management import superuser

ROUND_BRACKETS = ["http://evil.example[::1]/x", "http://[::1]evil.example/x", "http://[::1]x:80/cb"]


def registered(world: World, uri: str, kind: str = "Native", field: str = "redirect_uris") -> int:
    """Register an application over HTTP, and return the status of the answer."""
    metadata = {"redirect_uris": [CALLBACK]} | {field: [uri]}
    body = {"name": "Evil", "type": kind, "oidc_client_metadata": metadata}
    return superuser(world).post("/applications", **body).status_code


def at_a_third_party(world: World) -> Visit:
    here = visit(world)
    with world.active():
        Application.objects.filter(pk=here.client.application.pk).update(is_third_party=True)
    return here


class TestBrackets:
    """V20a: some releases of Python ignore what stands around the brackets of an address."""

    @pytest.mark.parametrize("target", ROUND_BRACKETS)
    def test_attack_AV20_a_host_around_brackets_is_no_origin_of_a_loopback_application(self, acme, target):
        client = acme.application("Native", redirect_uris=["http://[::1]/cb"])

        answer = acme.browser().get(
            PATH, params={"client_id": client.client_id, "post_logout_redirect_uri": target}
        )

        assert is_refused(answer)

    @pytest.mark.parametrize("uri", [*ROUND_BRACKETS, "https://[::1]x/cb", "https://rp.example:/cb"])
    @pytest.mark.parametrize("field", ["redirect_uris", "post_logout_redirect_uris"])
    def test_attack_AV20_nor_can_it_be_registered(self, acme, uri, field):
        assert registered(acme, uri, field=field) == 400

    def test_an_address_in_brackets_and_nothing_else_can_be_registered(self, acme):
        assert registered(acme, "http://[::1]:8080/cb") == 200


class TestOriginsOfStrangers:
    """V20b: no client is named, and any path of any application's origin was good enough."""

    def test_attack_AV20_any_path_of_an_application_is_no_target_for_a_request_of_nobody(self, acme):
        acme.application()

        answer = acme.browser().get(
            PATH, params={"post_logout_redirect_uri": "https://rp.example/any/path?next=//evil.example"}
        )

        assert is_refused(answer)

    def test_decision_N10_a_target_that_is_listed_is_good_without_a_client(self, acme):
        acme.application(post_logout_redirect_uris=[HOME])

        assert sent_to(acme.browser().get(PATH, params={"post_logout_redirect_uri": HOME})) == (HOME, {})

    @pytest.mark.parametrize("known_by", ["client_id", "id_token_hint"])
    def test_decision_N10_the_origin_will_do_for_a_client_that_is_known(self, acme, known_by):
        here = visit(acme, acme.application())
        named = {"client_id": here.client.client_id, "id_token_hint": here.hint}
        browser = acme.browser()

        answer = browser.get(
            PATH, params={known_by: named[known_by], "post_logout_redirect_uri": "https://rp.example/bye"}
        )

        assert sent_to(answer) == ("https://rp.example/bye", {})


class TestThirdParties:
    """V20c: any third party's ID token ended the session of all applications with one GET."""

    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_attack_AV20_a_third_party_ends_no_session_silently(self, acme, method):
        here = at_a_third_party(acme)
        sent = {"id_token_hint": here.hint, "post_logout_redirect_uri": HOME}

        answer = here.end(**sent) if method == "GET" else here.browser.post(PATH, data=sent)

        assert is_asked(answer)
        assert here.client.application.name in answer.text
        assert here.browser.get("/account").status_code == 200

    def test_decision_N10_after_the_answer_the_person_goes_back_to_the_third_party(self, acme):
        here = at_a_third_party(acme)
        fields = question(here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME))

        assert sent_to(here.browser.post(PATH, data=fields)) == (HOME, {})
        assert here.browser.get("/account").status_code == 303

    def test_decision_N10_an_application_of_the_first_party_still_signs_out_at_once(self, acme):
        here = visit(acme)

        assert sent_to(here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)) == (HOME, {})


class TestOldTokens:
    """AW04: a provider may not say when the user signed in there. Then a hint of any age was new enough."""

    @pytest.mark.parametrize("auth_time", [UNKNOWN_AUTH_TIME, UNKNOWN_AUTH_TIME + timedelta(days=9000)])
    def test_attack_AW04_a_stolen_id_token_ends_no_session_of_a_later_sign_in(self, acme, auth_time):
        here = visit(acme)
        with acme.active():
            session = Session.objects.get(user=here.user)
            later, _ = sessions.start(here.user, amr=[], auth_time=auth_time, replacing=session)
            assert later.pk == session.pk
            Session.objects.update(updated_at=session.updated_at + timedelta(seconds=2))

        assert is_refused(acme.get(PATH, params={"id_token_hint": here.hint}))

        with acme.active():
            assert Session.objects.get().ended_at is None


class TestReservedNames:
    """V23: the answer would carry two codes, and a client may read the first."""

    @pytest.mark.parametrize(
        "query",
        ["code=evil", "x=1&state=evil", "iss=x", "error=x", "%63ode=evil", "a;code=evil", "code"],
    )
    def test_attack_AV23_a_response_parameter_cannot_be_registered(self, acme, query):
        assert registered(acme, f"https://rp.example/cb?{query}", "Traditional") == 400

    def test_attack_AV23_nor_the_state_of_a_sign_out(self, acme):
        uri = "https://rp.example/bye?state=evil"

        assert registered(acme, uri, "Traditional", "post_logout_redirect_uris") == 400

    @pytest.mark.parametrize("query", ["tenant=7", "codes=1", "next=%2Fhome%3Fcode%3D1"])
    def test_other_names_can(self, acme, query):
        assert registered(acme, f"https://rp.example/cb?{query}", "Traditional") == 200

    def test_what_was_registered_before_stays_and_can_be_changed_otherwise(self, acme):
        client = acme.application()
        with acme.active():
            Application.objects.update(redirect_uris=["https://rp.example/cb?code=old"])

        path = f"/applications/{client.application.pk}"
        assert superuser(acme).patch(path, name="Renamed").status_code == 200


class TestPorts:
    """V23: ports that are none."""

    @pytest.mark.parametrize("port", [0, 99_999, 65_536])
    @pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
    def test_attack_AV23_a_port_that_is_none_gets_no_code(self, acme, host, port):
        client = acme.application("Native", redirect_uris=[f"http://{host}/cb"])

        answer = acme.browser().authorize(client, redirect_uri=f"http://{host}:{port}/cb")

        assert answer.status_code == 400
        assert "Location" not in answer.headers

    @pytest.mark.parametrize("port", [0, 99_999])
    def test_attack_AV23_nor_can_it_be_registered(self, acme, port):
        assert registered(acme, f"http://127.0.0.1:{port}/cb") == 400

    @pytest.mark.parametrize("port", [1, 65_535])
    def test_the_first_and_the_last_are_ports(self, acme, port):
        client = acme.application("Native", redirect_uris=["http://127.0.0.1/cb"])

        answer = acme.browser().authorize(client, redirect_uri=f"http://127.0.0.1:{port}/cb")

        assert answer.status_code == 303
