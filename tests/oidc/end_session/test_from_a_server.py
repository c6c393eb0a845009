"""RP-initiated logout by an application's server, which has no cookies: the hint names the session."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from urllib.parse import urlsplit

import httpx
import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from audit.models import Entry
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users import services as users
from oidc.applications import services as applications
from oidc.keys import services as keys
from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support import independent
from tests.support.cast import World
from tests.support.end_session import (
    HOME,
    PATH,
    STATE,
    Visit,
    is_refused,
    is_signed_out_page,
    question,
    sent_to,
    visit,
)
from tests.support.threads import at_once, rounds, wait_until


def ask(here: Visit, method: str = "GET", **parameters: str) -> httpx.Response:
    """Send the request that an application's server sends, without any cookie."""
    sent = {"id_token_hint": here.hint, "post_logout_redirect_uri": HOME} | parameters
    sent = {name: value for name, value in sent.items() if value}
    if method == "POST":
        return here.world.post(PATH, data=sent)
    return here.world.get(PATH, params=sent)


def signed(world: World, hint: str, **changes: object) -> str:
    """Return the ID token with other claims, signed by the tenant."""
    with world.active():
        active = SigningKey.objects.active().get()
        return signing.sign(independent.claims_of(hint) | changes, typ="JWT", key_id=active.pk)


def entries(world: World) -> list[Entry]:
    return list(Entry.objects.filter(tenant_id=world.tenant.pk, key="Session.End"))


def changes_nothing(answer: httpx.Response) -> None:
    """Check that it is the page that says so, and that the browser keeps its cookies."""
    assert is_refused(answer)
    assert "Set-Cookie" not in answer.headers
    assert answer.headers["Cache-Control"] == "no-store"


class TestDecisionQ3:
    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_decision_Q3_ends_the_session_that_the_hint_names(self, here, method):
        answer = ask(here, method, state=STATE)

        assert sent_to(answer) == (HOME, {"state": STATE})
        assert not here.is_signed_in()
        assert here.browser.get("/account").status_code == 303

    def test_decision_Q3_with_the_hint_alone_there_is_a_page(self, here):
        answer = ask(here, post_logout_redirect_uri="")

        assert is_signed_out_page(answer)
        assert not here.is_signed_in()

    def test_decision_Q3_a_head_request_ends_nothing(self, here):
        answer = httpx.head(f"{here.world.address}{PATH}", params={"id_token_hint": here.hint})

        assert answer.status_code == 405
        assert here.is_signed_in()

    def test_decision_Q3_a_stale_cookie_counts_as_none(self, acme, here):
        stale = visit(acme, here.client, here.user)
        stale.end(id_token_hint=stale.hint)
        cookies = {"Cookie": f"gatehouse-session.{acme.tenant.slug}=stale"}

        answer = httpx.get(f"{acme.address}{PATH}", params={"id_token_hint": here.hint}, headers=cookies)

        assert is_signed_out_page(answer)
        assert not here.is_signed_in()

    def test_decision_Q3_a_browser_that_is_signed_in_is_asked_as_before(self, acme, here):
        elsewhere = visit(acme, here.client, here.user)

        answer = here.end(id_token_hint=elsewhere.hint)

        assert 'name="confirm"' in answer.text
        assert here.is_signed_in()
        assert elsewhere.is_signed_in()

    def test_decision_Q3_an_expired_hint_is_good(self, here):
        claims = independent.claims_of(here.hint)
        hint = signed(here.world, here.hint, exp=claims["iat"] - 1)

        assert sent_to(ask(here, id_token_hint=hint)) == (HOME, {})
        assert not here.is_signed_in()

    def test_decision_Q3_a_hint_of_a_rotated_key_is_good(self, here):
        with here.world.active():
            keys.rotate()

        assert sent_to(ask(here)) == (HOME, {})
        assert not here.is_signed_in()

    def test_decision_Q3_the_id_token_of_a_refresh_is_good(self, here):
        hint = here.client.refresh(here.tokens["refresh_token"]).json()["id_token"]

        assert sent_to(ask(here, id_token_hint=hint)) == (HOME, {})
        assert not here.is_signed_in()

    @pytest.mark.parametrize(
        "hint",
        ["access token", "another issuer", "unsigned", "changed", "deleted key", "garbage"],
    )
    def test_decision_Q3_a_forged_hint_ends_nothing(self, here, hint):
        good = here.hint
        if hint == "access token":
            forged = here.tokens["access_token"]
        elif hint == "another issuer":
            forged = signed(here.world, good, iss="https://elsewhere.example")
        elif hint == "unsigned":
            forged = f"{good.rpartition('.')[0]}."
        elif hint == "changed":
            head, body, signature = good.split(".")
            forged = f"{head}.{body[:-4]}AAAA.{signature}"
        elif hint == "deleted key":
            with here.world.active():
                old = SigningKey.objects.get()
                keys.rotate()
                keys.remove(old)
            forged = good
        else:
            forged = "x"

        for target in (HOME, ""):
            changes_nothing(ask(here, id_token_hint=forged, post_logout_redirect_uri=target))
        assert here.is_signed_in()

    def test_decision_Q3_a_client_id_of_another_application_ends_nothing(self, acme, here):
        for client_id in (acme.application().client_id, "unknown"):
            changes_nothing(ask(here, client_id=client_id, post_logout_redirect_uri=""))

        assert sent_to(ask(here, client_id=here.client.client_id)) == (HOME, {})
        assert not here.is_signed_in()

    @pytest.mark.parametrize("claim", ["sid", "sub"])
    def test_decision_Q3_sid_and_sub_belong_together(self, acme, here, claim):
        other = visit(acme, here.client)
        mixed = signed(acme, here.hint, **{claim: independent.claims_of(other.hint)[claim]})

        assert sent_to(ask(here, id_token_hint=mixed)) == (HOME, {})  # there is no such session
        assert here.is_signed_in()
        assert other.is_signed_in()

    def test_decision_T2_Q3_a_hint_of_another_tenant_is_forged(self, here, rival):
        stranger = visit(rival)

        for target in (HOME, ""):
            changes_nothing(ask(here, id_token_hint=stranger.hint, post_logout_redirect_uri=target))
        assert here.is_signed_in()
        assert stranger.is_signed_in()

    def test_decision_T2_Q3_a_session_of_another_tenant_is_unknown(self, acme, here, rival):
        stranger = visit(rival)
        theirs = independent.claims_of(stranger.hint)
        hint = signed(acme, here.hint, sub=theirs["sub"], sid=theirs["sid"])

        assert sent_to(ask(here, id_token_hint=hint)) == (HOME, {})
        assert stranger.is_signed_in()

    def test_decision_Q3_a_cross_site_post_becomes_a_get_first(self, here):
        form = {"id_token_hint": here.hint, "post_logout_redirect_uri": HOME}

        answer = here.world.post(PATH, data=form, headers={"Sec-Fetch-Site": "cross-site"})

        assert answer.status_code == 303
        assert urlsplit(answer.headers["Location"]).path.endswith(PATH)
        assert here.is_signed_in()

    def test_case_E10_the_button_pressed_twice_ends_no_other_session(self, acme, here):
        """The page asked about this browser's session, and the hint is of another person's."""
        other = visit(acme, here.client)
        fields = question(here.end(id_token_hint=other.hint))

        for _ in range(2):
            assert is_signed_out_page(here.browser.post(PATH, data=fields))

        assert not here.is_signed_in()
        assert other.is_signed_in()

    @pytest.mark.parametrize("changes", [{"sub": "x"}, {"sid": "x"}, {"sid": None}, {"aud": ["a"]}])
    def test_a_hint_that_we_would_not_write_breaks_nothing(self, here, changes):
        hint = signed(here.world, here.hint, **changes)

        answer = ask(here, id_token_hint=hint, post_logout_redirect_uri="")

        assert answer.status_code in {200, 400}
        assert here.is_signed_in()


class TestDecisionQ4:
    def test_decision_Q4_other_sessions_stay(self, acme, here):
        elsewhere, somebody = visit(acme, here.client, here.user), visit(acme, here.client)

        ask(here)

        assert not here.is_signed_in()
        assert elsewhere.is_signed_in()
        assert somebody.is_signed_in()

    def test_decision_Q4_access_tokens_of_the_session_end(self, acme):
        here = visit(acme, scope="openid profile")
        assert here.client.userinfo(here.tokens["access_token"]).status_code == 200

        assert sent_to(ask(here)) == (HOME, {})

        assert here.client.userinfo(here.tokens["access_token"]).status_code == 401

    def test_decision_Q4_families_live_on(self, here):
        assert sent_to(ask(here)) == (HOME, {})

        assert here.client.userinfo(here.tokens["access_token"]).status_code == 200
        refreshed = here.client.refresh(here.tokens["refresh_token"])
        assert here.client.userinfo(refreshed.json()["access_token"]).status_code == 200

    def test_decision_Q4_is_audited_as_asked_for_by_that_application(self, here):
        for _ in range(2):
            ask(here)

        sid = independent.claims_of(here.hint)["sid"]
        assert [(entry.user_id, entry.application_id, entry.payload) for entry in entries(here.world)] == [
            (str(here.user.pk), str(here.client.application.pk), {"session_id": sid})
        ]


class TestDecisionQ5:
    def sign_in_again(self, here: Visit, later: timedelta) -> None:
        """Sign in in the same browser, at a time after the hint was issued."""
        here.browser.sign_in(here.user)
        issued = independent.claims_of(here.hint)["iat"]
        with here.world.active():
            session = Session.objects.get(pk=independent.claims_of(here.hint)["sid"])
            session.auth_time = session.auth_time.fromtimestamp(issued, tz=session.auth_time.tzinfo) + later
            session.updated_at = session.auth_time
            session.save(update_fields=["auth_time", "updated_at"])

    def test_decision_Q5_a_hint_from_before_the_sign_in_is_too_old(self, here):
        self.sign_in_again(here, timedelta(seconds=1))

        for target in (HOME, ""):
            changes_nothing(ask(here, post_logout_redirect_uri=target))
        assert here.is_signed_in()
        assert entries(here.world) == []

    def test_decision_Q5_within_the_second_of_the_sign_in_it_is_not(self, here):
        self.sign_in_again(here, timedelta(milliseconds=999))

        assert sent_to(ask(here)) == (HOME, {})
        assert not here.is_signed_in()

    @pytest.mark.parametrize("issued", [None, "now", -1, 0, 1.5, True, 2**60])
    def test_decision_Q5_without_a_time_it_is_too_old(self, here, issued):
        changes_nothing(ask(here, id_token_hint=signed(here.world, here.hint, iat=issued)))
        assert here.is_signed_in()

    def test_decision_Q5_of_a_deleted_application_ends_nothing(self, acme, here):
        acme.application(post_logout_redirect_uris=[HOME])
        with acme.active():
            applications.remove(here.client.application)

        for target in (HOME, ""):
            changes_nothing(ask(here, post_logout_redirect_uri=target))
        assert here.browser.get("/account").status_code == 200

    def test_attack_AV32_decision_N10_Q5_of_a_third_party_ends_and_tells_nothing(self, acme):
        client = acme.application(post_logout_redirect_uris=[HOME])
        here = visit(acme, client)
        with acme.active():
            applications.change(client.application, {"is_third_party": True}, is_proven=True)

        assert sent_to(ask(here)) == (HOME, {})
        assert is_signed_out_page(ask(here, post_logout_redirect_uri=""))
        assert here.browser.get("/account").status_code == 200
        assert entries(acme) == []

    @pytest.mark.parametrize("target", ["https://evil.example/", "https://rp.example/bye2", "javascript:x"])
    def test_decision_Q5_an_unregistered_target_ends_nothing(self, here, target):
        changes_nothing(ask(here, post_logout_redirect_uri=target))
        assert here.is_signed_in()


class TestDecisionQ6:
    @pytest.mark.parametrize("is_third_party", [False, True])
    @pytest.mark.parametrize("why", ["signed out", "expired", "suspended"])
    def test_decision_Q6_a_session_that_has_ended_is_answered_as_before(self, acme, is_third_party, why):
        client = acme.application(post_logout_redirect_uris=[HOME])
        here = visit(acme, client)
        with acme.active():
            applications.change(client.application, {"is_third_party": is_third_party}, is_proven=True)
            if why == "signed out":
                Session.objects.update(ended_at=Now())
            elif why == "expired":
                Session.objects.update(expires_at=Now() - timedelta(seconds=1))
            else:
                users.suspend(here.user)
        before = len(entries(acme))

        assert sent_to(ask(here, state=STATE)) == (HOME, {"state": STATE})
        assert is_signed_out_page(ask(here, post_logout_redirect_uri=""))
        assert len(entries(acme)) == before

    def test_decision_Q6_a_deleted_application_comes_before_the_ended_session(self, here):
        with here.world.active():
            Session.objects.update(ended_at=Now())
            applications.remove(here.client.application)

        changes_nothing(ask(here, post_logout_redirect_uri=""))

    def test_decision_Q6_the_target_comes_before_the_ended_session(self, here):
        with here.world.active():
            Session.objects.update(ended_at=Now())

        changes_nothing(ask(here, post_logout_redirect_uri="https://evil.example/"))


@pytest.mark.skipif(
    connection.vendor != "postgresql",
    reason="real concurrency is tested on PostgreSQL: --engine=postgres",
)
class TestRaces:
    def test_decision_Q3_of_two_at_once_one_ends_it(self, acme):
        for _ in range(rounds(10)):
            here = visit(acme)
            before = len(entries(acme))

            answers = at_once(4, lambda _, here=here: ask(here))

            for answer in answers:
                assert sent_to(answer) == (HOME, {})
            assert not here.is_signed_in()
            assert len(entries(acme)) == before + 1

    @contextmanager
    def waiting_for(self, here: Visit) -> Iterator[Future[httpx.Response]]:
        """Start a request that waits for what the block does to the session, and for its commit."""
        with here.world.active(), ThreadPoolExecutor(1) as pool, transaction.atomic():
            Session.objects.select_for_update().get(pk=independent.claims_of(here.hint)["sid"])
            answer = pool.submit(ask, here)
            assert wait_until(self.is_blocking)
            yield answer

    def is_blocking(self) -> bool:
        """Return whether a connection waits for a lock of this one."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_locks WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))")
            return cursor.fetchone() is not None

    def test_decision_Q3_a_sign_in_that_comes_first_is_kept(self, here):
        with self.waiting_for(here) as answer:
            Session.objects.update(auth_time=Now() + timedelta(seconds=1))

        changes_nothing(answer.result())
        assert here.is_signed_in()
        assert entries(here.world) == []

    def test_decision_Q3_a_sign_out_that_comes_first_is_recorded_once(self, here):
        with self.waiting_for(here) as answer:
            sessions.end(Session.objects.get())

        assert sent_to(answer.result()) == (HOME, {})
        assert [entry.application_id for entry in entries(here.world)] == [None]

    def test_decision_Q3_a_sign_in_at_the_same_time_is_kept(self, here):
        """Either the sign-in comes first, and the hint is too old; or it begins a session of its own."""
        time.sleep(1 - time.time() % 1)  # the hint is of an earlier second

        answers = at_once(2, lambda index: ask(here) if index else here.browser.sign_in(here.user))

        assert answers[0].status_code == 200
        assert answers[1].status_code in {303, 400}
        assert here.is_signed_in()
