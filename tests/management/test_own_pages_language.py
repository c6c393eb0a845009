"""Sentences of pages that need a story of their own are marked for translation too.

The first walk is that of ``test_console_language``.
"""

import secrets
import shutil
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from audit import context, log
from audit.events import Event
from config.single_sign_on import Provider
from database import ids
from identity.core import tenancy
from interaction.connectors.errors import Reason
from management.administrators import invitations
from management.administrators.models import ProviderAccount
from management.site import refusal_sentences
from tests.support import authenticator, pseudo_language
from tests.support.cast import PASSWORD, World
from tests.support.console_language import data_of, unmarked
from tests.support.import_page import HASH, PATH, hidden
from tests.support.locks import lock_newest
from tests.support.operators import Operator, administrator, text_of
from tests.support.two_step_page import key_on

pytestmark = pytest.mark.skipif(not shutil.which("xgettext"), reason="needs gettext")

USERS = (
    "id,username,email,password_hash\n"
    f"1,ann,ann@example.com,{HASH}\n2,not good,,\n3,bob,,$unknown$\n1,ann,,\n4,ben,,\n"
).encode()


@pytest.fixture
def operator(acme: World) -> Operator:
    somebody = Operator(administrator(), Client())
    somebody.sign_in()
    return somebody.choose(acme)


def follow(operator: Operator, answer: Any) -> Any:
    assert answer.status_code == 303, text_of(answer)
    return operator.get(answer.headers["Location"])


class TestImport:
    def check(self, operator: Operator, content: bytes, name: str = "users.csv", **fields: Any) -> Any:
        file = SimpleUploadedFile(name, content)
        return operator.http.post(PATH, hidden(text_of(operator.get(PATH))) | {"file": file} | fields)

    def test_of_users_is_marked(self, acme, operator):
        with pseudo_language.spoken():
            checked = follow(operator, self.check(operator, USERS, drop_unknown_hashes="on"))
            done = follow(operator, operator.http.post(PATH, hidden(text_of(checked))))
            nobody = follow(operator, self.check(operator, b"id,username\n2,not good\n"))
            expired = [operator.get(f"{PATH}?{name}={ids.new()}") for name in ("checked", "result")]
            answers = [operator.get(PATH), checked, done, nobody, *expired]

        assert not (found := unmarked(answers, data_of(acme))), "\n".join(found)

    @pytest.mark.parametrize(
        ("name", "content", "fields"),
        [
            ("users.csv", b"", {}),
            ("users.csv", b"id,username\n", {}),
            ("users.csv", b"id,strange\n1,2\n", {}),
            ("users.csv", b"\xff\xfe\n", {}),
            ("users.csv", b"x" * 1_000_001, {}),
            ("users.txt", b"x", {}),
            ("users.json", b"[", {"format": "keycloak"}),
            ("users.json", b"{}", {"format": "keycloak"}),
            ("users.csv", b"id,username\n1,ann\n", {"password_file": b"x"}),
            ("users.json", b"[]", {"format": "firebase", "password_file": b"x"}),
        ],
    )
    def test_that_is_refused_is_marked(self, acme, operator, name, content, fields):
        files = {k: SimpleUploadedFile("other", v) if k == "password_file" else v for k, v in fields.items()}

        with pseudo_language.spoken():
            answer = self.check(operator, content, name, **files)

        assert answer.status_code == 400
        assert not (found := unmarked([answer], data_of(acme))), "\n".join(found)

    def test_names_problems_in_the_language_of_the_administrator(self, acme, operator):
        with pseudo_language.spoken():
            page = text_of(follow(operator, self.check(operator, b"id,username,custom_data\n1,ann,x\n")))

        assert "custom_data: ⟦must be JSON⟧" in page


def list_facts() -> list[tuple[Event, dict[str, str]]]:
    """Return every event, and every reason of a failure."""
    failed = {"result": "failed"}
    return [
        *((event, {"result": "success"}) for event in Event),
        *((event, {**failed, "error": "suspended"}) for event in Event),
        *((Event.SIGN_IN_CODE, {**failed, "error": code}) for code in ["", *refusal_sentences.SENTENCES]),
        *((Event.CONNECTOR_TEST, {**failed, "error": "refused", "reason": one.value}) for one in Reason),
        (Event.SIGN_IN_PASSWORD, {**failed, "error": "locked", "locked_until": "2026-11-22T10:00:00Z"}),
    ]


def test_every_sentence_about_an_entry_is_marked(acme, operator):
    facts = list_facts()
    groups = [facts[start : start + 100] for start in range(0, len(facts), 100)]  # as many as the page shows
    references = [str(ids.new()) for _ in groups]
    for group, reference in zip(groups, references, strict=True):
        with acme.active(), context.using(context.current()._replace(request_id=reference)):
            for event, about in group:
                log.record(event, **about)

    with pseudo_language.spoken():
        answers = [operator.get(f"/admin/why/?reference={text}") for text in (*references, "x")]
        answers += [operator.get(f"/admin/search/?q={text}") for text in ("ab", references[0])]
        answers += [operator.get(f"/admin/audit/entry/?{query}") for query in ("result=failed", "q=x", "p=2")]
        answers.append(operator.get("/admin/?days=7"))

    assert sum(text_of(answer).count('<li class="card') for answer in answers[: len(references)]) == len(
        facts
    )
    assert not (found := unmarked(answers, data_of(acme))), "\n".join(found)


def test_findings_of_the_doctor_on_the_dashboard_are_marked(acme, operator, settings, tmp_path):
    settings.DEVELOPMENT, settings.ADMIN_TWO_STEP = False, "optional"
    settings.VAR, settings.ADMIN_PASSWORD_FILE = tmp_path, tmp_path / "password"
    settings.ADMIN_PASSWORD_FILE.touch(mode=0o644)
    tmp_path.chmod(0o777)

    with pseudo_language.spoken():
        answers = [operator.get("/admin/")]
        tmp_path.chmod(0o755)
        answers.append(operator.get("/admin/"))

    page = "".join(map(text_of, answers))
    findings = ("is still in", "with a password alone", "read or write", "write to VAR_DIR", "list VAR_DIR")
    assert [text for text in findings if text not in page] == []
    assert not (found := unmarked(answers, data_of(acme))), "\n".join(found)


def test_the_health_of_a_user_who_is_suspended_and_locked_is_marked(acme, operator):
    ada = acme.user("ada")
    acme.browser().sign_in(ada, "wrong")
    lock_newest(acme)
    page = f"/admin/users/user/{ada.pk}/change/"

    with pseudo_language.spoken():
        locked = operator.get(page)
        operator.http.post(f"/admin/users/user/{ada.pk}/do/suspend/", {"drawn_for": acme.tenant.pk})
        suspended = operator.get(page)

    assert "⟦Locked for " in text_of(locked)
    assert "by administrator" in text_of(suspended)
    assert not (found := unmarked([locked, suspended], data_of(acme))), "\n".join(found)


class TestOwnPages:
    def test_of_the_second_step_are_marked(self, acme, operator):
        page = "/admin/two-step/"
        key = key_on(text_of(operator.get(page)))
        code = authenticator.code(key)

        with pseudo_language.spoken():
            answers = [operator.submit(page, password="wrong", code=code)]
            answers.append(operator.submit(page, password=PASSWORD, code="000000"))
            answers.append(follow(operator, operator.submit(page, password=PASSWORD, code=code)))
            answers.append(operator.get(page))
            answers += [operator.get(f"{page}{name}/") for name in ("codes", "remove")]
            other = Operator(operator.who, Client())
            answers.append(follow(other, other.sign_in()))
            answers.append(other.http.post("/admin/login/code/", {"code": "000000"}))

        assert "⟦The code is wrong, or was used before⟧" in text_of(answers[1]).replace(
            "the code", "The code"
        )
        assert not (found := unmarked(answers, data_of(acme))), "\n".join(found)

    def test_of_single_sign_on_are_marked(self, acme, operator, settings):
        settings.ADMIN_OIDC = Provider("https://sso.example", "client", "secret", "Example", "own", ())
        page = "/admin/single-sign-on/"

        with pseudo_language.spoken():
            answers = [Client().get("/admin/login/"), operator.get(page)]
            answers.append(operator.http.post(page, {"password": "wrong"}))
            with tenancy.using(tenancy.DEFAULT):
                ProviderAccount.objects.create(
                    administrator=operator.who, issuer="https://sso.example", subject="person-1"
                )
            answers.append(operator.get(page))
            answers.append(operator.http.get(f"{page}../login/provider/callback/", follow=True))

        assert not (found := unmarked(answers, data_of(acme))), "\n".join(found)

    def test_of_invited_people_are_marked(self, acme, operator):
        email = f"{secrets.token_hex(4)}@example.com"
        with tenancy.using(tenancy.DEFAULT):
            invited = invitations.invite(email=email, by=operator.who, current_password=PASSWORD)
        visitor = Client()
        invitation = f"/admin/administrators/invitation/{invited.invitation.pk}"

        with pseudo_language.spoken():
            answers = [visitor.get(urlsplit(invited.link).path, follow=True)]
            answers.append(visitor.post("/admin/invitation/", {"username": "a\tb", "password": "short"}))
            sent = {"current_password": PASSWORD, "current_code": ""}
            answers.append(follow(operator, operator.submit(f"{invitation}/do/renew/", **sent)))
            answers.append(operator.get(f"{invitation}/do/renew/?shown={ids.new()}"))

        assert not (found := unmarked(answers, data_of(acme))), "\n".join(found)

    def test_about_a_form_of_another_tenant_is_marked(self, acme, rival, operator):
        form = "/admin/users/user/do/create/"

        with pseudo_language.spoken():
            answers = [operator.http.post(form, {"drawn_for": pk}) for pk in (rival.tenant.pk, "unknown")]

        assert [answer.status_code for answer in answers] == [409, 409]
        assert not (found := unmarked(answers, data_of(rival))), "\n".join(found)
