"""Userinfo: its claims, the ways to send a token, and its refusals."""

import time
from datetime import timedelta

import httpx
import pytest
from django.db.models import F

from identity.users.models import User
from tests.support import wire
from tests.support.independent import bearer
from tests.support.userinfo import INVALID_TOKEN, new_person, read_challenge

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def person(acme):
    return new_person(acme)


class TestClaims:
    def test_of_openid_alone_are_the_subject(self, acme, person):
        client = acme.application()
        token = client.tokens_for(person, scope="openid")["access_token"]

        answer = client.userinfo(token)

        assert answer.json() == {"sub": str(person.pk)}

    def test_of_profile(self, acme, person):
        client = acme.application()

        answer = client.userinfo(client.tokens_for(person, scope="openid profile")["access_token"])

        assert answer.json() == {
            "sub": str(person.pk),
            "name": "Ada Lovelace",
            "username": "Ada.Lovelace",
            "preferred_username": "Ada.Lovelace",
            "picture": "https://acme.example/ada.png",
            "gender": "female",
            "updated_at": int(person.updated_at.timestamp()),
        }

    def test_of_email_and_phone(self, acme, person):
        client = acme.application()

        answer = client.userinfo(client.tokens_for(person, scope="openid email phone")["access_token"])

        assert answer.json() == {
            "sub": str(person.pk),
            "email": "Ada@acme.example",
            "email_verified": True,
            "phone_number": person.phone,
            "phone_number_verified": False,
        }

    def test_decision_O9_that_are_absent_are_left_out(self, acme):
        client, user = acme.application(), acme.user("bare")

        claims = client.userinfo(client.tokens_for(user)["access_token"]).json()

        assert set(claims) == {"sub", "username", "preferred_username", "updated_at"}
        assert isinstance(claims["updated_at"], int)

    @pytest.mark.parametrize("gender", [None, 1, ["x"], {"a": "b"}, "", True])
    def test_decision_O9_gender_is_a_text_or_absent(self, acme, person, gender):
        client = acme.application()
        with acme.active():
            User.objects.filter(pk=person.pk).update(custom_data={"gender": gender})

        answer = client.userinfo(client.tokens_for(person)["access_token"])

        assert "gender" not in answer.json()

    def test_are_those_of_this_moment(self, acme, person):
        client = acme.application()
        token = client.tokens_for(person)["access_token"]
        with acme.active():
            User.objects.filter(pk=person.pk).update(name="Ada King")

        assert client.userinfo(token).json()["name"] == "Ada King"

    def test_decision_I4_a_sign_in_does_not_move_updated_at(self, acme, person):
        client, browser = acme.application(), acme.browser()
        with acme.active():
            User.objects.filter(pk=person.pk).update(updated_at=F("updated_at") - timedelta(days=3))
        before = client.userinfo(client.tokens_for(person, browser)["access_token"]).json()["updated_at"]

        after = client.userinfo(client.tokens_for(person)["access_token"]).json()["updated_at"]

        assert before == after < time.time() - 2 * 24 * 3600

    def test_of_any_letters_come_back_as_they_are(self, acme):
        name = '<img src=x onerror=alert(1)>{{7*7}}%s \u202e\U0001f600 "\\'
        client, user = acme.application(), acme.user(name=name)

        answer = client.userinfo(client.tokens_for(user)["access_token"])

        assert answer.json()["name"] == name
        assert answer.headers["Content-Type"] == "application/json"


class TestWaysToAsk:
    def test_get_post_header_and_post_body_answer_the_same(self, acme, person):
        client = acme.application()
        token = client.tokens_for(person)["access_token"]

        answers = [
            acme.get("/oidc/userinfo", headers=bearer(token)),
            acme.post("/oidc/userinfo", headers=bearer(token)),
            acme.post("/oidc/userinfo", headers=bearer(token), data={"x": "y"}),
            acme.post("/oidc/userinfo", data={"access_token": token}),
            acme.get("/oidc/userinfo", headers={"Authorization": f"bEARER   {token}"}),
        ]

        assert [answer.status_code for answer in answers] == [200] * 5
        assert len({answer.content for answer in answers}) == 1
        for answer in answers:
            assert answer.headers["Content-Type"] == "application/json"
            assert answer.headers["Cache-Control"] == "no-store"
            assert "Set-Cookie" not in answer.headers

    def test_head_is_get_without_the_body(self, acme, person):
        token = acme.application().tokens_for(person)["access_token"]

        answer = httpx.head(f"{acme.address}/oidc/userinfo", headers=bearer(token))

        assert (answer.status_code, answer.content) == (200, b"")

    @pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE"])
    def test_no_other_method(self, acme, method):
        answer = httpx.request(method, f"{acme.address}/oidc/userinfo")

        assert answer.status_code == 405
        assert answer.headers["Allow"] == "GET, POST, OPTIONS"

    def test_case_F24_the_address_is_no_place_for_a_token(self, acme, person):
        token = acme.application().tokens_for(person)["access_token"]

        got = acme.get("/oidc/userinfo", params={"access_token": token})
        posted = acme.post("/oidc/userinfo", params={"access_token": token}, data={"x": "y"})

        assert read_challenge(got) == read_challenge(posted) == (401, None)

    def test_case_F24_two_places_at_once_are_refused(self, acme, person):
        token = acme.application().tokens_for(person)["access_token"]

        answers = [
            acme.post("/oidc/userinfo", headers=bearer(token), data={"access_token": other})
            for other in (token, "x")
        ]

        assert [read_challenge(answer) for answer in answers] == [(400, "invalid_request")] * 2

    def test_a_cookie_is_no_access_token(self, acme, person):
        browser = acme.browser()
        browser.sign_in(person)

        assert read_challenge(browser.get("/oidc/userinfo")) == (401, None)

    def test_a_body_of_get_is_not_read(self, acme, person):
        token = acme.application().tokens_for(person)["access_token"]

        answer = httpx.request(
            "GET", f"{acme.address}/oidc/userinfo", content=f"access_token={token}", headers=FORM
        )

        assert read_challenge(answer) == (401, None)


class TestRefusal:
    @pytest.mark.parametrize("header", [None, "", "Bearer", "Basic YTpi", "Token x", "x"])
    def test_without_a_token_names_no_error(self, acme, header):
        headers = {} if header is None else {"Authorization": header}

        answer = acme.get("/oidc/userinfo", headers=headers)

        # RFC 6750 section 3.1: no error code where no credentials came.
        assert read_challenge(answer) == (401, None)

    @pytest.mark.parametrize(
        "token", ["x", "a.b.c", "....", "é", "a b", '"', "eyJhbGciOiJub25lIn0.e30.", "x" * 7_000, "\\"]
    )
    def test_of_garbage_says_invalid_token(self, acme, token):
        in_header = acme.get("/oidc/userinfo", headers={b"Authorization": b"Bearer " + token.encode()})
        in_body = acme.post("/oidc/userinfo", data={"access_token": token})

        assert read_challenge(in_header) == read_challenge(in_body) == INVALID_TOKEN

    @pytest.mark.parametrize("raw", [b"Bearer \xff", b"\xff\xfe", b"Bearer \xc2\xa0"])
    def test_of_bytes_beyond_ascii_is_no_failure(self, acme, raw):
        answer = acme.get("/oidc/userinfo", headers={b"Authorization": raw})

        assert read_challenge(answer)[0] == 401

    def test_case_F24_two_headers_are_refused(self, acme, person):
        token = acme.application().tokens_for(person)["access_token"]
        line = f"Authorization: Bearer {token}"

        answer = wire.send(acme.address, "GET", b"/oidc/userinfo", line, line)

        assert answer.status in {400, 401}

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            (b"access_token=a&access_token=b", 400),
            (b"x=a&x=b", 400),
            (b"%22%0d%0aX=a&%22%0d%0aX=b", 400),
            (b"%c3%a9=a&%c3%a9=b", 400),
            (b"x%5c=" + b"a" * 20_000, 400),
            (b"access_token=%00", 400),
            (b"access_token=%ff", 400),
            (b"\xff", 400),
            (b"access_token=" + b"a" * 140_000, 400),
            (b"access_token=" + b"a" * 10_000_000, 413),
            (b"&".join(b"a%d=b" % n for n in range(200)), 400),
        ],
    )
    def test_of_a_bad_form_is_told_in_header_and_body(self, acme, body, status):
        answer = acme.post("/oidc/userinfo", content=body, headers=FORM)

        assert read_challenge(answer) == (status, "invalid_request")

    def test_of_a_form_without_a_token_names_no_error(self, acme):
        answers = [
            acme.post("/oidc/userinfo", data={"access_token": ""}),
            acme.post("/oidc/userinfo", content=b"", headers=FORM),
            acme.post("/oidc/userinfo", json={"access_token": "x"}),
        ]

        assert [read_challenge(answer) for answer in answers] == [(401, None)] * 3

    def test_without_openid_says_insufficient_scope(self, acme, person):
        client = acme.application()
        first = client.tokens_for(person)
        token = client.refresh(first["refresh_token"], scope="profile email").json()["access_token"]

        answer = client.userinfo(token)

        assert read_challenge(answer) == (403, "insufficient_scope")
        # RFC 6750 section 3: the scope that would do.
        assert answer.headers["WWW-Authenticate"].endswith(', scope="openid"')


class TestCors:
    def test_decision_H11_answers_the_origin_of_a_redirect_uri(self, acme, person):
        client = acme.application("SPA")
        token = client.tokens_for(person)["access_token"]
        origin = {"Origin": "https://rp.example"}

        read = acme.get("/oidc/userinfo", headers=bearer(token) | origin)
        refused = acme.get("/oidc/userinfo", headers=origin)
        preflight = httpx.options(f"{acme.address}/oidc/userinfo", headers=origin)

        for answer in (read, refused, preflight):
            assert answer.headers["Access-Control-Allow-Origin"] == "https://rp.example"
            assert "Access-Control-Allow-Credentials" not in answer.headers
        assert read.status_code == 200
        assert "authorization" in preflight.headers["Access-Control-Allow-Headers"].lower()
        assert "GET" in preflight.headers["Access-Control-Allow-Methods"]

    def test_decision_H11_no_page_of_another_origin_reads_it(self, acme, person):
        token = acme.application("SPA").tokens_for(person)["access_token"]
        origin = {"Origin": "https://evil.example"}

        read = acme.get("/oidc/userinfo", headers=bearer(token) | origin)
        preflight = httpx.options(f"{acme.address}/oidc/userinfo", headers=origin)

        for answer in (read, preflight):
            assert "Access-Control-Allow-Origin" not in answer.headers
            assert answer.headers["Vary"] == "Origin"
