"""The case book, letter I: what people type, and what they are sent."""

import pytest

from tests.support import codes
from tests.support.management import refusal_of, result_of


@pytest.fixture
def reachable(acme):
    return codes.reachable(acme)


class TestPassword:
    def test_case_I23_a_megabyte_is_refused_before_it_is_hashed(self, acme):
        body = {"identifier": "ada", "password": "x" * 1_000_000}

        answer = acme.post("/api/interaction/sign-in", json=body)

        assert answer.status_code in {400, 413}
        assert answer.elapsed.total_seconds() < 5

    def test_case_I23_200_characters_are_a_password(self, acme):
        password = "Correct horse 5! " * 11 + "ends"
        browser = acme.browser()
        made = browser.post("/api/interaction/register", json={"username": "ada", "password": password})

        again = acme.browser().post(
            "/api/interaction/sign-in", json={"identifier": "ada", "password": password}
        )
        cut = acme.browser().post(
            "/api/interaction/sign-in", json={"identifier": "ada", "password": password[:-1]}
        )

        assert [made.status_code, again.status_code, cut.status_code] == [200, 200, 401]

    @pytest.mark.parametrize("password", ["password1", "qwerty123", "iloveyou1"])
    def test_case_I28_a_common_one_is_refused_where_the_tenant_says_so(self, acme, admin, password):
        result_of(admin.patch("/sign-in-experience", password_policy={"reject_common": True}))

        answer = acme.post("/api/interaction/register", json={"username": "ada", "password": password})

        assert answer.status_code == 400
        assert "common password" in answer.json()["message"]


class TestUsername:
    """A name that is somebody's email or phone would catch that person's sign-in."""

    @pytest.mark.parametrize(
        "username", ["ada@example.com", "a@b", "+4915112345678", "015112345678", "4915112345678"]
    )
    def test_case_I27_that_looks_like_an_email_or_a_phone_is_refused(self, acme, admin, username):
        registered = acme.post(
            "/api/interaction/register", json={"username": username, "password": "quite a l0ng one"}
        )
        made = admin.post("/users", username=username, password="quite a l0ng one")

        assert "username" in refusal_of(registered, 400)
        assert "username" in refusal_of(made, 400)


class TestMessage:
    def test_case_I30_holds_no_markup_that_somebody_typed(self, reachable, admin):
        email, browser = codes.new_email(), reachable.browser()
        reachable.user(email=email, name="<script>alert(1)</script> https://evil.example")
        client = reachable.application(name='<a href="https://evil.example">Prize</a>')
        browser.authorize(client)

        codes.send(browser, email)

        message = codes.message_to(email)
        assert message["code"] not in message["subject"]
        assert "<script" not in message["body"]
        assert "<a href" not in message["body"]

    @pytest.mark.parametrize("host", ["evil.example", "evil.example:443", "localhost.evil.example"])
    def test_case_I30_names_no_host_that_a_request_brought(self, reachable, host):
        email, browser = codes.new_email(), reachable.browser()
        reachable.user(email=email)

        browser.post(codes.SEND, json=codes.about(email), headers={"Host": host, "X-Forwarded-Host": host})

        assert "evil" not in str(codes.message_to(email))
