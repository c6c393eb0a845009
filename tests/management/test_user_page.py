"""The page and the list of users on the operators' site: what is shown, and what can be done."""

import html
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from identity.limits import rules
from identity.limits.models import Counter
from identity.roles.models import Role
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users import sign_in_locks
from identity.users.identifiers import Kind
from tests.support import factors
from tests.support.cast import PASSWORD
from tests.support.management import result_of, superuser

USERS = "/admin/users/user/"
CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36"


def lock(world, user, group):
    """Let a group of locks of a user be locked, as after many failures."""
    until = timezone.now() + timedelta(minutes=5)
    with world.active():
        Counter.objects.create(
            kind="pair", key_hash=str(user.pk), group_hash=rules.hash_group(group), ends_at=until,
            locked_until=until,
        )  # fmt: skip


def page_of(operator, user):
    return html.unescape(operator.get(f"{USERS}{user.pk}/change/").text)


def card(page, title):
    (found,) = re.findall(
        rf'<section class="card panel">(?:(?!</section>).)*>{title}</h.*?</section>', page, re.DOTALL
    )
    return found


def states(operator, **query):
    page = operator.get(USERS, params=query).text
    rows = re.findall(
        r'class="field-display_name"><a [^>]*>(.*?)</a>.*?class="badge [a-z]+">(\w+)<', page, re.DOTALL
    )
    return dict(rows)


class TestButtons:
    def test_one_is_first_and_those_that_are_rarely_needed_are_in_a_menu(self, acme, operator):
        tools = re.search(
            r'<ul class="object-tools">(.*?)</details>', page_of(operator, acme.user()), re.DOTALL
        )

        assert tools
        buttons, menu = tools[1].split("<summary>More</summary>")
        assert re.findall(r"<a [^>]*>(.*?)</a>", buttons) == ["Edit user", "Set password"]
        assert buttons.count('class="primary"') == 1
        assert "Change username" in menu

    def test_those_that_end_or_delete_are_in_the_danger_zone_alone(self, acme, operator):
        page, dangers = page_of(operator, acme.user()).split('<section class="card dangers"')

        for operation in ("suspend", "delete"):
            assert f"/do/{operation}/" not in page
            assert f"/do/{operation}/" in dangers


class TestCards:
    def test_that_are_empty_have_the_button_that_fills_them(self, acme, operator):
        page = page_of(operator, acme.user())

        assert re.search(r'href="[^"]*/do/roles/">Choose roles</a>', card(page, "Roles"))
        assert page.count("/do/roles/") == 1
        assert 'href="/admin/organizations/organization/"' in card(page, "Organizations")
        assert "Add the user as a member on the page of an organization." in card(page, "Organizations")

    def test_roles_that_the_user_has_stay_with_the_button(self, acme, operator):
        user = acme.user()
        with acme.active():
            role = Role.objects.create(name="Clerk", type=Role.Type.USER)
        superuser(acme).put(f"/users/{user.pk}/roles", role_ids=[str(role.pk)])

        roles = card(page_of(operator, user), "Roles")

        assert "Clerk" in roles
        assert "Choose roles" in roles

    @pytest.mark.parametrize("is_on", [True, False])
    def test_second_factors_say_when_a_sign_in_asks_for_them(self, acme, operator, is_on):
        factors.switch_on(acme, "Totp")
        user = acme.user()
        factors.enrol(acme, user, two_step=is_on)

        shown = card(page_of(operator, user), "Second factors")

        assert f"Two-step sign-in is {'on' if is_on else 'off'}: " in shown
        assert "Authenticator app" in shown
        assert "Change two-step sign-in" in shown

    def test_sessions_name_the_browser(self, acme, operator):
        user = acme.user()
        with acme.active():
            sessions.start(user, amr=["pwd"])
            Session.objects.update(user_agent=CHROME)

        assert "Chrome on Linux" in card(page_of(operator, user), "Live sessions")
        assert "Chrome on Linux" in operator.get("/admin/identity_sessions/session/").text


class TestDangers:
    NAMES = ("end-sessions", "end-tokens", "disconnect", "unlink")

    def test_there_is_nothing_to_end(self, acme, operator):
        page = page_of(operator, acme.user())

        assert [name for name in self.NAMES if f"/do/{name}/" in page] == []
        assert "/do/sign-out/" in page

    def test_a_session_can_be_ended(self, acme, operator):
        user = acme.user()
        with acme.active():
            sessions.start(user, amr=["pwd"])

        assert [name for name in self.NAMES if f"/do/{name}/" in page_of(operator, user)] == ["end-sessions"]

    @pytest.mark.parametrize("of_second_factors", [True, False])
    def test_only_a_locked_user_can_be_unlocked(self, acme, operator, of_second_factors):
        user = acme.user("ada")
        before = page_of(operator, user)
        second = sign_in_locks.get_second_factor_group(user.pk)
        lock(acme, user, second if of_second_factors else sign_in_locks.get_group(Kind.USERNAME, "ada"))

        assert "/do/unlock/" not in before
        assert "/do/unlock/" in page_of(operator, user)


class TestStates:
    def test_of_locked_suspended_and_other_users(self, acme, operator):
        for name in ("ada", "bob", "cleo", "dora", "eve"):
            user = acme.user(name)
            if name in {"bob", "eve"}:
                lock(acme, user, sign_in_locks.get_group(Kind.USERNAME, name))
        admin = superuser(acme)
        result_of(admin.post("/users", username="frida", password=PASSWORD))

        found = states(operator)

        assert {name for name, state in found.items() if state == "Locked"} == {"bob", "eve"}
        assert {name for name, state in found.items() if state == "Active"} >= {
            "ada",
            "cleo",
            "dora",
            "frida",
        }

    def test_a_long_address_breaks_after_its_at_sign(self, acme, operator):
        acme.user("ada", email="ada.lovelace.of.the.engine@analytical.example")

        assert "ada.lovelace.of.the.engine@<wbr>analytical.example" in operator.get(USERS).text
