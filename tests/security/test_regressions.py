"""Attacks that worked once, each kept from working again."""

import os
import stat
import subprocess
import sys

import pytest
from django.conf import settings

from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users import credentials
from identity.users import services as users
from identity.users.models import User
from management.seeding import demo
from oidc.applications import services as applications
from tests.support.cast import PASSWORD
from tests.support.statement_costs import Inside


class TestSignOut:
    def test_wins_over_a_sign_in_that_was_under_way(self, acme, monkeypatch):
        user, browser = acme.user(), Inside(acme)
        sent = {"identifier": user.username, "password": PASSWORD}
        browser.send("/api/interaction/sign-in", sent)
        with acme.active():
            before = Session.objects.get()
        authenticate = credentials.authenticate

        def overtaken(**given):
            found = authenticate(**given)
            sessions.end(before)
            return found

        monkeypatch.setattr("interaction.journeys.sign_in.credentials.authenticate", overtaken)
        answer = browser.send("/api/interaction/sign-in", sent)

        assert answer.status_code == 200, answer.content
        with acme.active():
            assert Session.objects.get(pk=before.pk).ended_at is not None
            assert Session.objects.exclude(pk=before.pk).get().ended_at is None
            assert User.objects.get(pk=user.pk).login_count == 2


class TestBodies:
    @pytest.mark.parametrize("charset", ["hex", "zlib", "rot13", "idna", "undefined", "no-such-thing"])
    @pytest.mark.parametrize("path", ["/.well-known/openid-configuration?x", "/oidc/token?x", "/sign-in"])
    def test_name_no_codec_that_we_would_use(self, acme, path, charset):
        headers = {"Content-Type": f"application/x-www-form-urlencoded; charset={charset}"}

        answers = [acme.get(path, headers=headers), acme.post(path, headers=headers, content=b"a=b")]

        assert all(answer.status_code < 500 for answer in answers)

    def test_of_pages_are_bounded_and_hold_no_files(self, acme):
        upload = acme.post("/sign-in", files={"file": b"x" * 2_000_000})
        small = acme.post("/sign-in", files={"file": b"x" * 1000})

        assert upload.status_code == 413
        assert small.status_code == 403


class TestAuthorize:
    def test_issues_nothing_for_a_head_request(self, acme):
        browser, client = acme.browser(), acme.application()
        browser.sign_in(acme.user())

        answer = browser.http.head(f"{acme.address}/oidc/authorize", params=client.request())

        assert answer.status_code == 405


class TestDemo:
    def test_belongs_to_development(self):
        with pytest.raises(demo.OnlyInDevelopment):
            demo.prepare("http://localhost:9")

    def test_never_touches_an_account_that_was_there_before(self, acme, monkeypatch, tmp_path):
        monkeypatch.setattr(settings, "DEVELOPMENT", True)
        monkeypatch.setattr(settings, "VAR", tmp_path)
        monkeypatch.setattr("management.seeding.demo.tenancy.DEFAULT", acme.tenant.to_active())
        alice = acme.user("alice")

        shown = demo.prepare("http://localhost:9")

        assert shown.username != "alice"
        assert acme.browser().sign_in(alice).status_code == 200
        assert demo.prepare("http://localhost:9") == shown


class TestFiles:
    def test_case_K17_are_for_one_user_alone(self, tmp_path):
        database = tmp_path / "gatehouse.sqlite3"

        subprocess.run(
            [sys.executable, "manage.py", "showmigrations", "--verbosity=0"],
            env=os.environ
            | {"DATABASE_URL": f"sqlite:///{database}", "DJANGO_SETTINGS_MODULE": "config.settings"},
            cwd=settings.BASE_DIR,
            check=True,
        )

        assert stat.S_IMODE(database.stat().st_mode) == 0o600


class TestRaces:
    def test_what_is_deleted_at_this_moment_is_refused_and_never_a_failure(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        code = browser.code_for(client, user)
        with acme.active():
            applications.remove(client.application)
            users.remove(user)

        answers = [client.redeem(code), browser.authorize(client)]

        assert [answer.status_code for answer in answers] == [401, 400]
