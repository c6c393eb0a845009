"""Imports at the same time: of the same users, and more of them than a node runs at once."""

from threading import Barrier

from django.db import transaction

from management.site.user_import import uploads
from tests.support import operators
from tests.support.cast import World
from tests.support.import_page import HASH, PATH, check, checked, hidden
from tests.support.threads import at_once

OWN = "Another file of yours is being checked or imported. Wait until that has finished, then try again."


def store_both(acme: World, attempt: int) -> list[int]:
    """How many users each of two imports creates, which begin to store the same users together."""
    lines = [f"{n},u{attempt}-{n},u{attempt}-{n}@example.com\n".encode() for n in range(1500)]
    ready = Barrier(2)

    def store(index: int) -> int:
        content = b"id,username,email\n" + b"".join(lines if index else lines[::-1])
        with acme.active():
            upload = uploads.Upload("users.csv", content, "csv", f"system {attempt} {index}")
            prepared = uploads.prepare(upload)
            ready.wait()
            with transaction.atomic():
                return int(prepared.store()["imported"])

    return sorted(at_once(2, store))


def test_two_imports_of_the_same_users_in_different_orders_both_end(acme):
    """On PostgreSQL, each waited for the other's new usernames: a deadlock, and an error page."""
    assert [store_both(acme, attempt) for attempt in range(4)] == [[0, 1500]] * 4


def costly_file(name: str) -> bytes:
    """A file whose check takes half a second."""
    rows = "".join(f"{n},{name}{n},{HASH}\n" for n in range(500))
    return f"id,username,password_hash\n{rows}".encode()


class TestManyAtOnce:
    """A check takes a thread for seconds. So each process runs two at once, and refuses others."""

    def test_an_administrator_takes_one_place_and_leaves_the_other(self, acme):
        one, other = operators.administrator(), operators.administrator()
        browsers = [operators.at(acme, other), *(operators.at(acme, one) for _ in range(6))]

        theirs, *own = at_once(7, lambda index: check(browsers[index], costly_file(f"n{index}-")))

        assert theirs.status_code == 303
        assert {answer.status_code for answer in own} == {303, 409}
        refused = next(answer for answer in own if answer.status_code == 409)
        assert OWN in refused.text
        assert check(browsers[1], b"id,username\n1,ann\n").status_code == 303

    def test_an_administrator_imports_one_file_at_a_time(self, acme):
        one, other = operators.administrator(), operators.administrator()
        browsers = [operators.at(acme, other), *(operators.at(acme, one) for _ in range(4))]
        forms = []
        for number, browser in enumerate(browsers):
            _, page = checked(browser, costly_file(f"p{number}-"), source=f"system {number}")
            forms.append(hidden(page))

        found = at_once(5, lambda index: browsers[index].http.post(PATH, data=forms[index]))

        theirs, *own = [answer.headers["Location"] for answer in found]
        assert "?result=" in theirs
        busy = [index for index, location in enumerate(own, 1) if "?checked=" in location]
        assert 1 <= len(busy) <= 3
        page = browsers[busy[0]].get(own[busy[0] - 1]).text
        assert f"{OWN} Nothing was imported." in page
        again = browsers[busy[0]].http.post(PATH, data=hidden(page))
        assert "500 users imported" in browsers[busy[0]].get(again.headers["Location"]).text

    def test_checks_beyond_two_are_refused_at_once(self, acme):
        everyone = [operators.at(acme) for _ in range(8)]

        found = at_once(8, lambda index: check(everyone[index], costly_file("user")))

        assert sorted({one.status_code for one in found}) == [303, 503]
        assert sum(one.status_code == 303 for one in found) >= 2
        refused = next(one for one in found if one.status_code == 503)
        assert "Other files are being checked or imported. Try again in a few seconds." in refused.text
        assert check(everyone[0], b"id,username\n1,ann\n").status_code == 303

    def test_a_refused_import_can_be_repeated(self, acme):
        everyone = [operators.at(acme) for _ in range(8)]
        forms = []
        for number, one in enumerate(everyone):
            _, page = checked(one, costly_file(f"person{number}-"), source=f"system {number}")
            forms.append(hidden(page))

        found = at_once(8, lambda index: everyone[index].http.post(PATH, data=forms[index]))

        assert {one.status_code for one in found} == {303}
        busy = [index for index, one in enumerate(found) if "?checked=" in one.headers["Location"]]
        assert 1 <= len(busy) <= 6
        page = everyone[busy[0]].get(found[busy[0]].headers["Location"]).text
        assert "Try again in a few seconds. Nothing was imported." in page
        again = everyone[busy[0]].http.post(PATH, data=hidden(page))
        assert "500 users imported" in everyone[busy[0]].get(again.headers["Location"]).text
