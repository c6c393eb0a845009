"""*Import users* on the operators' site: a file is checked, and then imported once."""

import csv
import html
import json
import re
from datetime import timedelta
from io import StringIO

import pytest
from django.db.models import F

from audit.models import Entry
from identity.submissions.models import ShownOnce
from identity.users.models import User
from management.site.user_import import uploads
from tests.support import operators
from tests.support.cast import World
from tests.support.import_page import HASH, PATH, SAMPLES, THREE, check, checked, hidden, names, numbers, run
from tests.support.imports import sign_in
from tests.support.operators import Operator
from tests.support.threads import at_once


@pytest.fixture
def operator(acme: World) -> Operator:
    return operators.at(acme)


def error(page: str, field: str) -> str:
    found = re.search(rf'<label for="id_{field}">[^<]*</label><ul class="errorlist"[^>]*><li>([^<]*)', page)
    return html.unescape(found[1]) if found else ""


class TestCheck:
    def test_it_says_what_an_import_would_do_and_saves_nobody(self, acme, operator):
        acme.user("ben")
        entries = Entry.objects.count()

        _, page = checked(operator, b"id,username\n1,ann\n2,ben\n3,not good\n4,cyd\n")

        assert numbers(page) == {"To create": 2, "Skipped": 0, "Refused": 2}
        assert "<td>Line 3</td><td>2</td><td>username: already exists</td>" in page
        assert "<td>Line 4</td><td>3</td><td>username: " in page
        assert 'value="Import 2 users"' in page
        assert names(acme) == {"ben"}
        assert Entry.objects.count() == entries

    @pytest.mark.parametrize(
        ("content", "name", "fields", "field", "says"),
        [
            (b"", "users.csv", {}, "file", "empty"),
            (b"\n\n", "users.jsonl", {}, "file", "has no users"),
            (b"id,username\n", "users.csv", {}, "file", "has no users"),
            (b"\xff\xfei\x00d\x00", "users.csv", {}, "file", "the file is not UTF-8"),
            (b"id;username\n1;ann\n", "users.csv", {}, "file", "needs a first line with the names"),
            (f"1,{HASH},ann\n2,{HASH},ben\n".encode(), "users.csv", {}, "file", "separated by commas"),
            (b"id,username,Mail\n1,ann,a@example.com\n", "users.csv", {}, "file", "unknown column “Mail”"),
            (b"id,username,Mail\n1,ann,\n", "users.csv", {}, "file", "unknown column “Mail”"),
            (b"id,username,Mail\n1,ann\n2,ben\n", "users.csv", {}, "file", "unknown column “Mail”"),
            (b"id,username,Mail\n", "users.csv", {}, "file", "unknown column “Mail”; the columns are id, us"),
            (b'id,"' + b"x" * 140_000 + b'"', "users.csv", {}, "file", "not CSV"),
            (b"{}", "users.xml", {}, "format", "must be chosen"),
            (b"{", "users.json", {"format": "keycloak"}, "file", "not JSON"),
            (b"[[[", "users.json", {"format": "django"}, "file", "not JSON"),
            (b'{"users": 5}', "users.json", {"format": "firebase"}, "file", "no list of users"),
            (THREE, "users.csv", {"format": "nothing"}, "format", "valid choice"),
            (THREE, "users.csv", {"source": "x" * 65}, "source", "64"),
            (THREE, "users.csv", {"source": "a\0b"}, "source", "Null"),
            (THREE, "users.csv", {"password_file": b"x"}, "password_file", "Auth0 and Firebase only"),
            (THREE, "x.csv", {"format": "firebase", "password_file": b"x"}, "password_file", "rounds"),
            (THREE, "x.csv", {"format": "firebase", "password_file": b"a" * 9000}, "password_file", "8 KiB"),
            (b"id,username\n" + b"1,a\n" * 2001, "users.csv", {}, "file", "more than 2,000"),
            (b"id\n" + b"x" * 1_000_001, "users.csv", {}, "file", "at most 1 MB"),
        ],
    )
    def test_a_file_that_cannot_be_imported_is_refused_at_its_field(  # noqa: PLR0913, PLR0917
        self, operator, content, name, fields, field, says
    ):
        answer = check(operator, content, name, **fields)

        assert answer.status_code == 400
        assert says in error(answer.text, field)

    def test_a_form_without_a_file_is_refused(self, operator):
        answer = operator.submit(PATH)

        assert answer.status_code == 400
        assert "required" in error(answer.text, "file")

    def test_a_body_that_is_too_large_is_413(self, operator):
        answer = check(operator, b"x" * 1_100_000)

        assert answer.status_code == 413
        assert "can have 1024 KiB together" in answer.text
        assert "manage.py import_users" in answer.text

    def test_a_large_body_without_a_session_says_that_the_operator_is_signed_out(self, operator):
        operator.http.cookies.clear()
        answer = operator.http.post(PATH, files={"file": ("users.csv", b"x" * 100_000)})

        assert answer.status_code == 413
        assert "You are signed out" in answer.text

    @pytest.mark.parametrize(
        ("rows", "name"),
        [
            (f"id,username,password_hash\n1,not good,{HASH}\n2,ben,{HASH}x\n3,{HASH}\n", "users.csv"),
            (json.dumps({"id": "1", "username": "a b", "password_hash": HASH, HASH: 1}), "users.jsonl"),
            ("{" + HASH, "users.jsonl"),
        ],
    )
    def test_no_page_download_or_row_has_a_password_hash(self, operator, rows, name):
        address, page = checked(operator, rows.encode(), name)
        problems = operator.get(address.replace("checked", "problems")).text

        assert "line" in problems
        assert HASH[:20] not in page + problems
        assert not ShownOnce.objects.filter(sealed_content__contains=HASH[:20]).exists()

    def test_a_file_without_a_heading_is_refused_without_its_values(self, operator):
        answer = check(operator, f"1,{HASH},ann\n2,{HASH},ben\n".encode())

        assert answer.status_code == 400
        assert HASH[:20] not in answer.text

    def test_users_that_the_file_repeats_are_said_to_be_repeated(self, operator):
        _, page = checked(operator, b"id,username\n1,ann\n1,ann\n")

        assert (
            "<td>Skipped, because their ID was imported before or is repeated in the file</td><td>1</td>"
            in page
        )

    def test_hashes_may_cost_what_they_may_through_the_api(self, acme, operator):
        costly = HASH.replace("$12$", "$13$")

        _, page = checked(operator, f"username,password_hash\nann,{costly}\nben,{HASH}\n".encode())

        assert numbers(page)["To create"] == 1
        assert "<td>password_hash: takes too much time to verify</td>" in page

    def test_values_of_the_file_are_escaped(self, operator):
        _, page = checked(operator, b"id,username\n<script>,a b\n", '<b>"x.csv')

        assert "&lt;script&gt;" in page
        assert "<script>,a" not in page
        assert "<b>" not in page

    def test_of_many_problems_the_first_are_shown_and_all_can_be_downloaded(self, operator):
        rows = "".join(f"=cmd{n},a b\n" for n in range(30))
        address, page = checked(operator, f"id,username\n{rows}".encode())

        (link,) = re.findall(r'href="(\?problems=[^"]+)"', page)
        download = operator.get(PATH + html.unescape(link))

        assert "The first 20 are shown." in page
        assert page.count("<td>Line ") == 20
        assert download.headers["Content-Disposition"] == 'attachment; filename="refused-users.csv"'
        assert "no-store" in download.headers["Cache-Control"]
        found = list(csv.DictReader(StringIO(download.text)))
        assert len(found) == 30
        assert found[0]["line"] == "2"
        assert found[0]["id"] == "'=cmd0"
        assert address.startswith(PATH)


class TestImport:
    def test_it_creates_the_users_and_shows_what_was_refused(self, acme, operator):
        page = run(operator, THREE)

        assert "2 users imported" in page
        assert numbers(page) == {"Created": 2, "Skipped": 0, "Refused": 1}
        assert "<td>Line 4</td><td>3</td>" in page
        assert names(acme) == {"ann", "ben"}

    def test_it_is_audited_like_the_command_with_the_administrator(self, acme, operator):
        run(operator, THREE, source="shop")

        entries = Entry.objects.filter(tenant_id=acme.tenant.pk, key="User.Create").order_by("created_at")
        assert sorted((one.payload["username"], one.payload["imported_from"]) for one in entries) == [
            ("ann", "shop"), ("ben", "shop"),
        ]  # fmt: skip
        assert {one.payload["administrator_id"] for one in entries} == {operator.who.pk}

    def test_a_second_import_skips_them_and_changes_nobody(self, acme, operator):
        run(operator, THREE)
        with acme.active():
            User.objects.filter(username="ann").update(name="Changed")
            before = list(User.objects.order_by("pk").values())

        _, page = checked(operator, THREE)

        assert numbers(page)["To create"] == 0
        assert numbers(page)["Skipped"] == 2
        assert 'value="Import' not in page
        with acme.active():
            assert list(User.objects.order_by("pk").values()) == before

    @pytest.mark.parametrize(
        ("file", "fields", "identifier"),
        [
            ("users.csv", {}, "dora"),
            ("users.jsonl", {}, "fay"),
            ("keycloak-realm.json", {"format": "keycloak"}, "kim"),
            ("django-users.csv", {"format": "django", "drop_unknown_hashes": "on"}, "xena"),
            (
                "auth0-users.ndjson",
                {"format": "auth0", "password_file": (SAMPLES / "auth0-passwords.ndjson").read_bytes()},
                "ola@example.com",
            ),
            (
                "firebase-users.csv",
                {"format": "firebase", "password_file": (SAMPLES / "firebase-parameters.txt").read_bytes()},
                "sam@example.com",
            ),
        ],
    )
    def test_users_of_every_format_sign_in_with_their_passwords(
        self, acme, operator, file, fields, identifier
    ):
        run(operator, (SAMPLES / file).read_bytes(), file, **fields)

        assert sign_in(acme, identifier) == 200

    def test_the_sample_can_be_imported(self, acme, operator):
        sample = operator.get(f"{PATH}?sample=csv")

        page = run(operator, sample.content, "users.csv")

        assert sample.headers["Content-Type"].startswith("text/csv")
        assert (numbers(page)["Created"], numbers(page)["Refused"]) == (2, 0)


class TestSentTwice:
    def test_a_form_that_is_sent_twice_imports_once_and_has_one_result(self, acme, operator):
        _, page = checked(operator, THREE)

        answers = [operator.http.post(PATH, data=hidden(page)) for _ in range(2)]

        assert [one.status_code for one in answers] == [303, 303]
        assert answers[0].headers["Location"] == answers[1].headers["Location"]
        assert Entry.objects.filter(tenant_id=acme.tenant.pk, key="User.Create").count() == 2

    def test_a_checked_file_is_imported_once_by_two_forms(self, acme, operator):
        address, page = checked(operator, THREE)
        other = operator.get(address).text

        first = operator.http.post(PATH, data=hidden(page))
        second = operator.http.post(PATH, data=hidden(other))

        assert (first.status_code, second.status_code) == (303, 410)
        assert "no longer stored" in second.text
        assert Entry.objects.filter(tenant_id=acme.tenant.pk, key="User.Create").count() == 2

    def test_many_at_once_import_once(self, acme, operator):
        _, page = checked(operator, THREE)
        form = hidden(page)

        found = at_once(6, lambda _: operator.http.post(PATH, data=form).status_code)

        assert set(found) == {303}
        assert Entry.objects.filter(tenant_id=acme.tenant.pk, key="User.Create").count() == 2

    def test_reloading_the_result_shows_it_again_and_imports_nothing(self, acme, operator):
        _, page = checked(operator, THREE)
        address = operator.http.post(PATH, data=hidden(page)).headers["Location"]

        shown = [operator.get(address) for _ in range(2)]

        assert [one.status_code for one in shown] == [200, 200]
        assert Entry.objects.filter(tenant_id=acme.tenant.pk, key="User.Create").count() == 2


class TestWhoMay:
    @pytest.mark.parametrize("role", ["support", "auditor"])
    def test_support_and_auditors_may_not(self, acme, role):
        limited = operators.at(acme, operators.administrator(role=role))

        assert limited.get(PATH).status_code == 403
        assert PATH not in limited.get("/admin/users/user/").text
        form = hidden(limited.get("/admin/").text) | {"drawn_for": acme.tenant.pk}
        answer = limited.http.post(PATH, data=form, files={"file": ("users.csv", THREE)})
        assert answer.status_code == 403
        assert names(acme) == set()

    def test_an_administrator_finds_it_on_the_list(self, operator):
        assert f'href="{PATH}"' in operator.get("/admin/users/user/").text

    def test_a_checked_file_is_of_its_tenant(self, acme, rival):
        limited = operators.at(acme, operators.administrator(tenants=[acme.tenant.slug, rival.tenant.slug]))
        address, page = checked(limited, THREE)
        form = hidden(page)
        limited.choose(rival)

        of_other = limited.http.post(PATH, data=form)
        forged = limited.http.post(PATH, data=form | {"drawn_for": rival.tenant.pk})

        assert (of_other.status_code, forged.status_code) == (409, 410)
        assert limited.get(address).status_code == 410
        assert names(acme) | names(rival) == set()

    def test_a_checked_file_and_a_result_are_of_their_session(self, acme, operator):
        address, page = checked(operator, THREE)
        other = operators.at(acme)
        form = hidden(page)

        forged = other.http.post(PATH, data=hidden(other.get(PATH).text) | {"checked": form["checked"]})
        result = operator.http.post(PATH, data=form).headers["Location"]

        assert forged.status_code == 410
        for path in (
            address,
            address.replace("checked", "problems"),
            result,
            result.replace("result", "problems"),
        ):
            assert other.get(path).status_code == 410, path
        assert operator.get(result).status_code == 200

    @pytest.mark.parametrize("query", ["checked=x", "result=x", "checked=" + "0" * 32])
    def test_unknown_ids_are_410(self, operator, query):
        assert operator.get(f"{PATH}?{query}").status_code == 410

    def test_it_expires(self, acme, operator):
        address, page = checked(operator, THREE)
        ShownOnce.objects.update(expires_at=F("expires_at") - timedelta(minutes=31))

        assert operator.get(address).status_code == 410
        assert operator.http.post(PATH, data=hidden(page)).status_code == 410
        assert names(acme) == set()

    def test_a_session_has_one_checked_file_at_a_time(self, operator):
        first, _ = checked(operator, THREE)
        before = ShownOnce.objects.count()

        second, _ = checked(operator, THREE)

        assert ShownOnce.objects.count() == before
        assert (operator.get(first).status_code, operator.get(second).status_code) == (410, 200)


def test_the_page_says_what_happens_to_existing_users_and_that_there_is_no_undo(operator):
    page = operator.get(PATH).text

    told = re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", page, re.DOTALL)
    assert [title for title, _ in told] == [
        "Formats",
        "Existing users",
        "Check first",
        "Undo",
        "Larger files",
    ]
    assert "are skipped" in told[1][1]
    assert "cannot be undone" in told[3][1]


def test_what_the_page_says_about_limits_is_true(operator):
    page = operator.get(PATH).text

    assert f"At most {uploads.LARGEST // 1_000_000} MB and {uploads.MOST_USERS:,} users." in page


def test_as_many_users_as_the_page_allows_are_imported(acme, operator):
    rows = "".join(f"{n},user{n},user{n}@example.com,+1555{n:07}\n" for n in range(uploads.MOST_USERS))

    page = run(operator, f"id,username,email,phone\n{rows}".encode())

    assert numbers(page)["Created"] == uploads.MOST_USERS
