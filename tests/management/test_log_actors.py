"""The column *Who* of the audit log on the operators' site: names and links instead of ids."""

import html
import re

from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.models import Entry
from database import ids
from identity.users.models import User
from tests.support import in_process, operators
from tests.support.operators import administrator

LOG = "/admin/audit/entry/"


def write(world, payload=None, **columns):
    return Entry.objects.create(
        tenant_id=world.tenant.pk, key="Token.Exchange", payload=payload or {"result": "success"}, **columns
    )


def who(operator, **query):
    """The cells of the column, newest first: text and link."""
    page = operator.get(LOG, params={"key": "tokens", **query}).text
    cells = re.findall(r'<td [^>]*class="field-subject[^"]*">(.*?)</td>', page)
    found = [re.fullmatch(r'(?:<a href="([^"]*)">)?([^<]*)(?:</a>)?', cell) for cell in cells]
    return [(html.unescape(cell[2]), cell[1]) for cell in found if cell]


class TestWho:
    def test_is_a_user_by_username_email_phone_or_name(self, acme, operator):
        ada = acme.user("ada", name="Ada Lovelace")
        bob = acme.user("bob", email="bob@example.com", name="Bob")
        cleo = acme.user("cleo", name="Cleo <b>")
        with acme.active():
            User.objects.filter(pk__in=[bob.pk, cleo.pk]).update(username="", username_key=None)
        for user in (cleo, bob, ada):
            write(acme, user_id=str(user.pk))

        assert who(operator) == [
            (name, f"/admin/users/user/{user.pk}/change/")
            for name, user in (("ada", ada), ("bob@example.com", bob), ("Cleo <b>", cleo))
        ]

    def test_is_an_application(self, acme, operator):
        client = acme.application(name="Book & shop").application
        write(acme, application_id=str(client.pk))

        assert who(operator) == [("Book & shop", f"/admin/applications/application/{client.pk}/change/")]

    def test_is_an_administrator_whose_page_only_superusers_may_see(self, acme, operator):
        limited = operators.at(acme, administrator(tenants=[acme.tenant.slug]))
        user = acme.user("ada")
        write(acme, {"administrator_id": operator.who.pk}, user_id=str(user.pk))
        name = f"Administrator {operator.who.username}"

        assert who(operator) == [(name, f"/admin/administrators/administrator/{operator.who.pk}/change/")]
        assert who(limited) == [(name, None)]

    def test_keeps_the_beginning_of_the_id_of_what_was_deleted(self, acme, operator):
        user, client = str(ids.new()), str(ids.new())
        write(acme, application_id=client)
        write(acme, user_id=user)
        write(acme, {"administrator_id": 2**40})

        assert who(operator) == [
            (f"Administrator {2**40}", None), (f"{user[:13]}…", None), (f"{client[:13]}…", None),
        ]  # fmt: skip

    def test_does_not_take_a_deleted_user_for_the_next_one_with_the_username(self, acme, operator):
        acme.user("ada-now")
        write(acme, {"username": "ada-now"}, user_id=str(ids.new()))

        assert who(operator) == [("ada-now", None)]

    def test_does_not_find_users_of_another_tenant(self, acme, rival, operator):
        stranger = rival.user("eve")
        write(acme, user_id=str(stranger.pk))

        assert who(operator) == [(f"{str(stranger.pk)[:13]}…", None)]

    def test_is_on_the_page_of_the_entry_too(self, acme, operator):
        entry = write(acme, user_id=str(acme.user("ada-2").pk))

        assert ">ada-2</a>" in operator.get(f"{LOG}{entry.pk}/change/").text

    def test_costs_the_same_for_many_and_fits_the_page(self, acme, operator):
        inside = in_process.new_client()
        inside.base_url, inside.cookies = operator.http.base_url, operator.http.cookies
        numbers = []
        for number in (1, 16):
            for one in range(number):
                write(acme, user_id=str(acme.user(f"u{number}-{one}").pk), user_agent="x" * 200)
                client = acme.application(name=f"Application {number} {one}").application
                write(acme, application_id=str(client.pk), ip="2001:db8::1", request_id=str(ids.new()))
                write(acme, {"administrator_id": operator.who.pk, "fields": ["redirect_uris", "name"]})
            with CaptureQueriesContext(connection) as queries:
                page = inside.get(LOG)
            numbers.append(len(queries))

        assert page.text.count('class="field-subject') >= 48
        assert numbers[0] == numbers[1]
        assert len(page.content) < 52_000
