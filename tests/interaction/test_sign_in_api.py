"""POST /api/interaction/sign-in: the JSON front door for people."""

import json
import statistics
import time
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.test import Client

from audit.models import Entry
from identity.sessions.models import Session
from identity.users import passwords
from identity.users import services as users
from identity.users.models import User
from interaction.experience.models import SignInExperience
from oidc.grants.models import AuthorizationRequest
from tests.support.cast import PASSWORD, World, query_of

PATH = "/api/interaction/sign-in"
JSON = {"Content-Type": "application/json"}


def is_envelope(answer: httpx.Response, code: int) -> str:
    """Check that an answer is an error in the shape of the API, and return its message."""
    assert answer.status_code == code, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in answer.headers
    said = answer.json()
    assert said.keys() == {"code", "message", "result"}
    assert (said["code"], said["result"]) == (code, "")
    assert said["message"]
    return str(said["message"])


def credentials(user: User, **fields: Any) -> dict[str, Any]:
    return {"identifier": user.username, "password": PASSWORD} | fields


def interaction_of(answer: httpx.Response) -> str:
    return query_of(answer.headers["Location"])["interaction"]


def sessions(world: World) -> int:
    with world.active():
        return Session.objects.count()


class TestSuccess:
    def test_says_where_to_go_and_sets_the_session_cookie(self, acme):
        answer = acme.post(PATH, json=credentials(acme.user()))

        assert answer.status_code == 200
        assert answer.json() == {
            "code": 0,
            "message": "success",
            "result": {"redirect_to": f"/t/{acme.tenant.slug}/account"},
        }
        assert answer.headers["Cache-Control"] == "no-store"
        assert f"gatehouse-session.{acme.tenant.slug}" in answer.cookies

    def test_decision_X1_the_cookie_is_for_this_site_alone_and_for_no_script(self, acme):
        answer = acme.post(PATH, json=credentials(acme.user()))

        name, *flags = answer.headers["Set-Cookie"].split("; ")
        assert len(name.partition("=")[2]) >= 43
        assert set(flags) >= {"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=1209600"}
        assert not any(flag.startswith("Domain") for flag in flags)

    @pytest.mark.parametrize(
        "typed",
        [
            "Alice.Example",
            "alice.example",
            "ALICE.EXAMPLE",
            "\uff41lice.example",  # full width, the same after NFKC
            " alice.example ",
            "Alice@Example.com",
            "alice@example.com",
            "+4915112345678",
            "4915112345678",
            "+49 (151) 123-456.78",
            "\uff0b4915112345678",
        ],
    )
    def test_takes_username_email_or_phone_as_people_type_them(self, acme, typed):
        acme.user("Alice.Example", email="Alice@Example.com", phone="+49 151 12345678")

        answer = acme.post(PATH, json={"identifier": typed, "password": PASSWORD})

        assert answer.status_code == 200, answer.text

    def test_ignores_fields_it_does_not_know(self, acme):
        user = acme.user()

        answer = acme.post(
            PATH,
            json=credentials(user, redirect_to="https://evil.example/", user_id="1", amr=["otp"], tenant="x"),
        )

        assert answer.json()["result"]["redirect_to"] == f"/t/{acme.tenant.slug}/account"
        with acme.active():
            assert Session.objects.get().amr == ["pwd"]

    def test_takes_json_with_a_charset(self, acme):
        body = json.dumps(credentials(acme.user())).encode()

        answer = acme.post(PATH, content=body, headers={"Content-Type": "application/json; charset=utf-8"})

        assert answer.status_code == 200

    def test_counts_the_sign_in_and_is_no_edit(self, acme):
        user = acme.user()

        acme.post(PATH, json=credentials(user))

        with acme.active():
            after = User.objects.get()
        assert (after.login_count, after.updated_at) == (1, user.updated_at)
        assert after.last_sign_in_at is not None

    def test_a_user_of_another_tenant_is_nobody(self, acme, rival):
        user = rival.user()

        answer = acme.post(PATH, json=credentials(user))

        is_envelope(answer, 401)

    def test_in_one_tenant_signs_nobody_in_in_another(self, acme, rival):
        browser = acme.browser()
        browser.sign_in(acme.user())

        answer = browser.get(f"{rival.address}/account")

        assert answer.headers["Location"] == f"/t/{rival.tenant.slug}/sign-in"


class TestInteraction:
    def test_decision_X1_names_the_request_that_goes_on(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        tabs = [interaction_of(browser.authorize(client, state=f"tab-{tab}")) for tab in range(3)]

        answer = browser.sign_in(user, interaction=tabs[1])

        onward = answer.json()["result"]["redirect_to"]
        assert onward == f"/t/{acme.tenant.slug}/oidc/authorize/{tabs[1]}"
        assert query_of(browser.get(onward).headers["Location"])["state"] == "tab-1"

    def test_decision_X1_without_one_the_newest_is_meant(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        tabs = [interaction_of(browser.authorize(client)) for _ in range(3)]

        answer = browser.sign_in(user)

        assert answer.json()["result"]["redirect_to"].endswith(tabs[2])

    def test_decision_X1_the_newest_that_is_not_done(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        tabs = [interaction_of(browser.authorize(client)) for _ in range(2)]
        browser.get(browser.sign_in(user).json()["result"]["redirect_to"])

        answer = browser.sign_in(user)

        assert answer.json()["result"]["redirect_to"].endswith(tabs[0])

    def test_decision_X1_with_none_at_all_it_is_the_account_page(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        browser.get(f"/oidc/authorize/{interaction_of(browser.authorize(client))}")
        browser.get(browser.sign_in(user).json()["result"]["redirect_to"])

        answer = browser.sign_in(user)

        assert answer.json()["result"]["redirect_to"] == f"/t/{acme.tenant.slug}/account"

    @pytest.mark.parametrize(
        "wrong", ["x", "00000000-0000-0000-0000-000000000000", " ", "../../account", "%00"]
    )
    def test_an_unknown_one_is_400_and_signs_nobody_in(self, acme, wrong):
        answer = acme.browser().sign_in(acme.user(), interaction=wrong)

        is_envelope(answer, 400)
        assert sessions(acme) == 0

    def test_case_A26_that_of_another_browser_is_400(self, acme):
        client, user = acme.application(), acme.user()
        victim, thief = acme.browser(), acme.browser()
        interaction = interaction_of(victim.authorize(client))
        thief.authorize(client)

        answer = thief.sign_in(user, interaction=interaction)

        assert "interaction" in is_envelope(answer, 400)
        with acme.active():
            assert not AuthorizationRequest.objects.filter(session__isnull=False).exists()

    def test_that_of_another_tenant_is_400(self, acme, rival):
        browser = rival.browser()
        interaction = interaction_of(browser.authorize(rival.application()))

        answer = browser.post(f"{acme.address}{PATH}", json=credentials(acme.user(), interaction=interaction))

        is_envelope(answer, 400)

    def test_one_that_is_done_is_400(self, acme):
        user = acme.user()
        browser = acme.browser()
        interaction = interaction_of(browser.authorize(acme.application()))
        browser.get(browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"])

        answer = browser.sign_in(user, interaction=interaction)

        is_envelope(answer, 400)

    def test_the_request_waits_on_when_the_password_was_wrong(self, acme):
        user = acme.user()
        browser = acme.browser()
        interaction = interaction_of(browser.authorize(acme.application()))

        browser.sign_in(user, password="not this", interaction=interaction)
        answer = browser.sign_in(user, interaction=interaction)

        assert answer.json()["result"]["redirect_to"].endswith(interaction)


class TestSameOrigin:
    @pytest.mark.parametrize(
        "origin",
        [
            "https://evil.example",
            "null",
            "",
            "http://127.0.0.1",
            "http://localhost:{port}",
            "https://127.0.0.1:{port}",
            "http://127.0.0.1:{port}/",
            "http://127.0.0.1:{port}.evil.example",
            "http://evil.example@127.0.0.1:{port}",
            "http://127.0.0.1:{port}0",
            "http://127.0.0.1:{port} https://evil.example",
        ],
    )
    def test_decision_X1_refuses_a_foreign_origin(self, acme, origin):
        user = acme.user()

        answer = acme.post(
            PATH, json=credentials(user), headers={"Origin": origin.format(port=settings.PORT)}
        )

        is_envelope(answer, 403)
        assert sessions(acme) == 0

    @pytest.mark.parametrize("site", ["cross-site", "same-site", "CROSS-SITE", "", "nonsense"])
    def test_case_J03_refuses_what_the_browser_calls_foreign(self, acme, site):
        user = acme.user()

        answer = acme.post(PATH, json=credentials(user), headers={"Sec-Fetch-Site": site})

        is_envelope(answer, 403)
        assert sessions(acme) == 0

    @pytest.mark.parametrize("site", ["same-origin", "none"])
    def test_takes_our_own_pages(self, acme, site):
        headers = {"Origin": settings.BASE_URL, "Sec-Fetch-Site": site}

        answer = acme.post(PATH, json=credentials(acme.user()), headers=headers)

        assert answer.status_code == 200

    def test_a_foreign_host_header_makes_no_origin_ours(self, acme):
        headers = {"Origin": "http://evil.example", "Host": "evil.example"}

        answer = acme.post(PATH, json=credentials(acme.user()), headers=headers)

        is_envelope(answer, 403)

    def test_case_C16_no_other_origin_may_read_or_send(self, acme):
        headers = {
            "Origin": "https://rp.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type",
        }
        acme.application(redirect_uris=["https://rp.example/callback"])

        answer = httpx.options(f"{acme.address}{PATH}", headers=headers)

        assert not any(name.lower().startswith("access-control") for name in answer.headers)

    @pytest.mark.parametrize(
        "content_type",
        [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/json-patch+json",
            "application/jsonp",
            "text/json",
            "",
            "application",
            "text/plain; application/json",
        ],
    )
    def test_decision_X1_takes_json_only(self, acme, content_type):
        body = json.dumps(credentials(acme.user())).encode()

        answer = acme.post(PATH, content=body, headers={"Content-Type": content_type})

        is_envelope(answer, 415)
        assert sessions(acme) == 0


class TestRefusal:
    def test_decision_X3_unknown_and_wrong_are_the_same(self, acme):
        user = acme.user("alice", email="alice@example.com", phone="+4915112345678")
        with acme.active():
            users.suspend(acme.user("suspended"))
            User.objects.filter(pk=acme.user("codes-only").pk).update(password="")
        tries = [
            ("nobody", PASSWORD),
            ("nobody@example.com", PASSWORD),
            ("+4900000000", PASSWORD),
            (user.username, "wrong"),
            (user.username, PASSWORD + " "),
            (user.username, " " + PASSWORD),
            (user.username, PASSWORD.upper()),
            (user.email, "wrong"),
            (user.phone, "wrong"),
            (str(user.pk), PASSWORD),
            ("suspended", "wrong"),
            ("codes-only", "wrong"),
            ("codes-only", "!"),
            ("alice' OR '1'='1", PASSWORD),
            ("alice%", PASSWORD),
            ("\u202ealice", PASSWORD),
            ("x" * 254, "y" * 256),
        ]

        answers = [acme.post(PATH, json={"identifier": who, "password": what}) for who, what in tries]

        for answer in answers:
            is_envelope(answer, 401)
        assert len({answer.content for answer in answers}) == 1
        assert len({tuple(sorted(set(answer.headers) - {"date", "x-request-id"})) for answer in answers}) == 1
        assert sessions(acme) == 0

    @pytest.mark.parametrize(
        ("who", "password"),
        [
            ("nobody", PASSWORD),
            ("alice", "wrong"),
            ("suspended", "wrong"),
            ("codes-only", "wrong"),
            ("alice", PASSWORD),
        ],
    )
    def test_decision_X3_costs_one_hash_whoever_it_is(self, acme, hashes, who, password):
        acme.user("alice")
        with acme.active():
            users.suspend(acme.user("suspended"))
            User.objects.filter(pk=acme.user("codes-only").pk).update(password="")
        hashes.clear()

        Client().post(
            f"/t/{acme.tenant.slug}{PATH}",
            {"identifier": who, "password": password},
            content_type="application/json",
        )

        assert hashes == [(19 * 1024, 2, 1)]

    def test_case_I01_takes_the_same_time(self, acme):
        user = acme.user()
        tries = {"unknown": "nobody", "wrong": user.username}
        taken: dict[str, list[float]] = {kind: [] for kind in tries}

        with httpx.Client() as http:
            for _ in range(25):
                for kind, who in tries.items():
                    began = time.perf_counter()
                    http.post(f"{acme.address}{PATH}", json={"identifier": who, "password": "wrong"})
                    taken[kind].append(time.perf_counter() - began)

        # Without the hash for nobody it would be a third.
        assert 0.6 < statistics.median(taken["unknown"]) / statistics.median(taken["wrong"]) < 1.6

    def test_case_I02_suspension_is_told_after_the_right_password_only(self, acme):
        user = acme.user()
        with acme.active():
            users.suspend(user)

        wrong = acme.post(PATH, json=credentials(user, password="wrong"))
        right = acme.post(PATH, json=credentials(user))

        is_envelope(wrong, 401)
        assert is_envelope(right, 403) == "this account is suspended"
        assert sessions(acme) == 0

    def test_a_user_who_is_let_in_again_signs_in(self, acme):
        user = acme.user()
        with acme.active():
            users.suspend(user)
            users.suspend(user, suspended=False)

        answer = acme.post(PATH, json=credentials(user))

        assert answer.status_code == 200

    @pytest.mark.parametrize(
        ("kind", "identifier"),
        [("username", "alice"), ("email", "alice@example.com"), ("phone", "+4915112345678")],
    )
    def test_decision_X3_a_method_that_is_off_is_400_for_anybody(self, acme, kind, identifier):
        acme.user("alice", email="alice@example.com", phone="+4915112345678")
        with acme.active():
            experience = SignInExperience.objects.get()
            for method in experience.sign_in["methods"]:
                method["password"] = method["identifier"] != kind
            experience.save()
        unknown = {"username": "nobody", "email": "nobody@example.com", "phone": "00000"}[kind]

        known = acme.post(PATH, json={"identifier": identifier, "password": PASSWORD})
        stranger = acme.post(PATH, json={"identifier": unknown, "password": PASSWORD})
        others = [
            acme.post(PATH, json={"identifier": other, "password": PASSWORD})
            for other in ("alice", "alice@example.com", "+4915112345678")
            if other != identifier
        ]

        assert is_envelope(known, 400) == is_envelope(stranger, 400)
        assert [answer.status_code for answer in others] == [200, 200]

    def test_case_I24_a_method_that_is_gone_is_off(self, acme):
        user = acme.user()
        with acme.active():
            SignInExperience.objects.update(sign_in={"methods": []})

        answer = acme.post(PATH, json=credentials(user))

        is_envelope(answer, 400)
        assert sessions(acme) == 0

    def test_decision_A1_leaves_an_entry_that_names_no_user_and_no_password(self, acme):
        user = acme.user()

        acme.post(PATH, json=credentials(user, password="the wrong one"), headers={"User-Agent": "A browser"})

        entry = Entry.objects.filter(tenant_id=acme.tenant.pk, key="SignIn.Password").get()
        assert entry.payload == {
            "username": user.username,
            "result": "failed",
            "error": "invalid_credentials",
        }
        assert (entry.user_id, entry.ip, entry.user_agent) == (None, "127.0.0.1", "A browser")

    def test_decision_A1_a_success_names_user_application_and_session(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()

        browser.authorize(client)
        browser.sign_in(user)

        entry = Entry.objects.filter(tenant_id=acme.tenant.pk, key="SignIn.Password").get()
        with acme.active():
            session = Session.objects.get()
        assert entry.payload == {
            "username": user.username,
            "result": "success",
            "session_id": str(session.pk),
        }
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))

    def test_more_than_can_be_hashed_are_told_to_come_back(self, acme, crowded):
        path, body = f"/t/{acme.tenant.slug}{PATH}", {"identifier": "nobody", "password": PASSWORD}

        answer = Client().post(path, body, content_type="application/json")
        crowded()
        again = Client().post(path, body, content_type="application/json")

        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "2"
        assert answer.json()["code"] == 503
        assert again.status_code == 401


@pytest.fixture
def hashes(monkeypatch):
    """The costs of every password hash that this process computes."""
    costs = []

    def counted(method):
        def wrapper(hasher, *arguments, **named):
            costs.append((hasher.memory_cost, hasher.time_cost, hasher.parallelism))
            return method(hasher, *arguments, **named)

        return wrapper

    for name in ("encode", "verify"):
        monkeypatch.setattr(passwords.Argon2id, name, counted(getattr(passwords.Argon2id, name)))
    return costs


class TestBadInput:
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b" ",
            b"{",
            b"nonsense",
            b"null",
            b"true",
            b"1",
            b'"text"',
            b"[]",
            b'[{"identifier": "a", "password": "b"}]',
            b'{"identifier": "a", "password": "b",}',
            b"{'identifier': 'a', 'password': 'b'}",
            b'{"identifier": "a", "password": NaN}',
            b'{"identifier": "a", "password": Infinity}',
            b'{"identifier": "a", "password": 1e400}',
            b'{"identifier": "a\\u0000", "password": "b"}',
            b'{"identifier": "a", "password": "b\\u0000"}',
            b'{"identifier": "a", "password": "b", "x\\u0000": 1}',
            b'{"identifier": "a", "password": "b", "x": [{"y": "\\u0000"}]}',
            b'{"identifier": "\\ud800", "password": "b"}',
            b'{"identifier": "a", "password": "\\udfff\\ud800"}',
            b'{"identifier": "\xff", "password": "b"}',
            b'\xef\xbb\xbf{"identifier": "a", "password": "b"}',
            '{"identifier": "a", "password": "b"}'.encode("utf-16"),
            b'{"identifier": "a", "password": "b"} {}',
            b'{"x": ' + b"[" * 40 + b"]" * 40 + b"}",
            b'{"x": ' + b"[" * 30_000 + b"]" * 30_000 + b"}",
            b'{"x": ' + b'{"x":' * 10_000 + b"1" + b"}" * 10_001,
            b"[" * 60_000,
        ],
        ids=lambda body: repr(body[:40]) + f" {len(body)}",
    )
    def test_decision_H3_what_is_no_json_object_is_400(self, acme, body):
        began = time.monotonic()

        answer = acme.post(PATH, content=body, headers=JSON)

        is_envelope(answer, 400)
        assert time.monotonic() - began < 2

    @pytest.mark.parametrize("field", ["identifier", "password"])
    @pytest.mark.parametrize("value", [None, [], ["a"], {}, {"a": 1}, True, False, ""], ids=repr)
    def test_case_L03_a_field_of_another_type_is_400_and_named(self, acme, field, value):
        answer = acme.post(PATH, json=credentials(acme.user(), **{field: value}))

        assert is_envelope(answer, 400).startswith(f"{field}: ")

    @pytest.mark.parametrize("value", [None, [], {}, True, "x" * 37], ids=repr)
    def test_case_L03_an_interaction_of_another_type_is_400_and_named(self, acme, value):
        answer = acme.post(PATH, json=credentials(acme.user(), interaction=value))

        assert is_envelope(answer, 400).startswith("interaction: ")

    @pytest.mark.parametrize("field", ["identifier", "password"])
    def test_a_missing_field_is_400_and_named(self, acme, field):
        body = credentials(acme.user())
        del body[field]

        answer = acme.post(PATH, json=body)

        assert is_envelope(answer, 400) == f"{field}: This field is required"

    @pytest.mark.parametrize(("field", "most"), [("identifier", 254), ("password", 256)])
    def test_case_L04_what_is_too_long_is_400_and_not_hashed(self, acme, hashes, field, most):
        body = credentials(acme.user(), **{field: "x" * (most + 1)})
        hashes.clear()

        answer = acme.post(PATH, json=body)
        Client().post(f"/t/{acme.tenant.slug}{PATH}", body, content_type="application/json")

        assert is_envelope(answer, 400).startswith(f"{field}: ")
        assert hashes == []

    def test_case_I22_every_character_of_a_long_password_counts(self, acme):
        long = "p" * 255 + "1"
        user = acme.user(password=long)

        right = acme.post(PATH, json=credentials(user, password=long))
        wrong = acme.post(PATH, json=credentials(user, password="p" * 255 + "2"))

        assert (right.status_code, wrong.status_code) == (200, 401)

    @pytest.mark.parametrize("size", [64 * 1024 + 1, 10 * 1024 * 1024])
    def test_decision_N14_more_than_64_kib_is_413(self, acme, size):
        answer = acme.post(PATH, content=b" " * size, headers=JSON)

        is_envelope(answer, 413)

    def test_decision_N14_64_kib_are_read(self, acme):
        user = acme.user()
        body = json.dumps(credentials(user)).encode()

        answer = acme.post(PATH, content=body + b" " * (64 * 1024 - len(body)), headers=JSON)

        assert answer.status_code == 200

    def test_case_L13_a_compressed_body_is_not_unpacked(self, acme):
        body = json.dumps(credentials(acme.user())).encode()

        answer = acme.post(PATH, content=body, headers=JSON | {"Content-Encoding": "gzip"})

        assert answer.status_code in {200, 400, 415}
        assert sessions(acme) == (answer.status_code == 200)

    @pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "TRACE"])
    def test_decision_H3_another_method_is_405_and_says_which_to_use(self, acme, method):
        answer = httpx.request(method, f"{acme.address}{PATH}")

        is_envelope(answer, 405)
        assert answer.headers["Allow"] == "POST, OPTIONS"

    @pytest.mark.parametrize(
        "path", [f"{PATH}/", f"{PATH}/x", "/api/interaction", "/api/interaction/nothing", "/api/"]
    )
    def test_decision_H3_an_unknown_address_is_404(self, acme, path):
        answer = acme.post(path, json={})

        is_envelope(answer, 404)

    def test_an_unknown_tenant_is_404(self, acme):
        answer = httpx.post(f"{settings.BASE_URL}/t/no-such-tenant{PATH}", json={})

        assert answer.status_code == 404

    def test_case_K05_what_was_typed_is_written_down_tamely(self, acme):
        identifier = "a\r\nb\x1b[31m\u202e'\"{}<script>" + "é" * 100

        acme.post(
            PATH,
            json={"identifier": identifier, "password": "x"},
            headers={"User-Agent": "U\tA" + "x" * 3000},
        )

        entry = Entry.objects.filter(tenant_id=acme.tenant.pk, key="SignIn.Password").get()
        assert entry.payload["username"] == f"hash:{entry.identifier_key}"
        assert len(entry.user_agent) == 512


class TestExperience:
    PATH = "/api/interaction/sign-in-experience"

    def test_shows_what_a_front_end_needs_and_no_more(self, acme):
        answer = acme.get(self.PATH)

        shown = answer.json()["result"]
        assert shown.keys() == {
            "branding",
            "sign_in",
            "sign_up",
            "password_policy",
            "terms_of_use_url",
            "privacy_policy_url",
            "social_connectors",
            "captcha",
        }
        assert shown["social_connectors"] == []
        assert [method["identifier"] for method in shown["sign_in"]["methods"]] == [
            "username",
            "email",
            "phone",
        ]

    def test_is_that_of_the_tenant(self, acme, rival):
        with acme.active():
            SignInExperience.objects.update(terms_of_use_url="https://acme.example/terms")

        ours, theirs = acme.get(self.PATH).json(), rival.get(self.PATH).json()

        assert ours["result"]["terms_of_use_url"] == "https://acme.example/terms"
        assert theirs["result"]["terms_of_use_url"] == ""
