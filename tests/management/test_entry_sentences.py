"""What the site says about an audit entry: who it is about, and the true reason of a failure."""

import collections
import importlib
import pkgutil
import re

import pytest
from django.db.models import F

from audit.events import Event
from audit.models import Entry
from identity.core.errors import ServiceError
from identity.users import credentials
from identity.users import services as users
from identity.users.models import User
from interaction.connectors.errors import Reason
from interaction.experience import services as experiences
from management.site import entry_sentences, refusal_sentences
from oidc.provider import errors
from tests.support import cast, operators
from tests.support.locks import lock_newest
from tests.support.management import connection
from tests.support.operators import text_of

SIGN_IN = "/api/interaction/sign-in"
PACKAGES = ("identity", "interaction", "management", "oidc")


def all_below(kind):
    for refusal in kind.__subclasses__():
        yield refusal
        yield from all_below(refusal)


@pytest.fixture(scope="module")
def reasons():
    """The reasons of every refusal of the project, which are found by importing all of it."""
    for name in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            if ".migrations" not in module.name:
                importlib.import_module(module.name)
    found = {refusal.reason for refusal in all_below(ServiceError) if refusal.__module__.startswith(PACKAGES)}
    codes = {error.code for error in all_below(errors.OAuthError)}
    assert len(found) > 70
    return found | codes


def test_every_reason_has_a_sentence(reasons):
    assert reasons - set(refusal_sentences.SENTENCES) == set()
    assert {reason.value for reason in Reason} - set(refusal_sentences.DETAILS) == set()


def test_no_two_reasons_share_a_sentence():
    texts = [*refusal_sentences.SENTENCES.values(), *refusal_sentences.DETAILS.values()]
    sentences = [str(text) for text in texts]

    assert [text for text, number in collections.Counter(sentences).items() if number > 1] == []
    assert [text for text in sentences if text.endswith(".") or not text[0].islower()] == [
        "BASE_URL does not begin with https"
    ]


def test_every_event_has_a_sentence():
    assert {event.value for event in Event} == set(entry_sentences.DONE)
    assert [text for text in map(str, entry_sentences.DONE.values()) if not text.endswith(".")] == []


class TestSignIn:
    """A user who is refused for a different reason each time, as the dashboard explains it."""

    def refuse(self, world, identifier, password="wrong"):
        answer = world.post(SIGN_IN, json={"identifier": identifier, "password": password})
        assert answer.status_code >= 400
        return answer

    def explain(self, operator, answer):
        page = operator.get("/admin/why/", params={"reference": answer.headers["X-Request-Id"]})
        return re.findall(r"<strong>([^<]+)</strong>", text_of(page))[-1]

    def test_each_refusal_says_its_true_reason(self, acme):
        operator = operators.at(acme)
        ada, suspended, empty = acme.user("ada"), acme.user("sue"), acme.user("emma")
        with acme.active():
            User.objects.filter(pk=empty.pk).update(password="")
            users.suspend(suspended)
        refusals = {
            "the password is wrong": self.refuse(acme, ada.username),
            "nobody has this identifier": self.refuse(acme, "nobody"),
            "the user has no password": self.refuse(acme, empty.username),
            "the user is suspended": self.refuse(acme, suspended.username, cast.PASSWORD),
        }
        with acme.active():
            experiences.change(
                {
                    "sign_in": {
                        "methods": [{"identifier": "email", "password": True, "verification_code": False}]
                    }
                },
                is_proven=True,
            )
        refusals["the sign-in experience does not allow this method for this kind of identifier"] = (
            self.refuse(acme, ada.username)
        )

        for sentence, answer in refusals.items():
            assert self.explain(operator, answer) == f"Sign-in with a password failed: {sentence}."

    def test_a_browser_with_an_outdated_device_id_gets_the_same_reasons(self, acme):
        operator, changed, emptied = operators.at(acme), acme.user("ada"), acme.user("emma")
        browsers = {user.username: acme.browser() for user in (changed, emptied)}
        for user in (changed, emptied):
            assert browsers[user.username].sign_in(user).status_code == 200
        with acme.active():
            credentials.store_password(changed, credentials.hash_new_password("another password"))
            User.objects.filter(pk=emptied.pk).update(password="", epoch=F("epoch") + 1)

        wrong = browsers["ada"].sign_in(changed, cast.PASSWORD)
        without = browsers["emma"].sign_in(emptied, cast.PASSWORD)

        assert wrong.status_code == without.status_code == 401
        assert self.explain(operator, wrong) == "Sign-in with a password failed: the password is wrong."
        assert self.explain(operator, without) == "Sign-in with a password failed: the user has no password."
        with acme.active():
            typed = [entry.payload["username"] for entry in Entry.objects.order_by("-created_at")[:2]]
        assert typed == ["emma", "ada"]

    def test_a_locked_user_is_said_to_be_locked_and_named(self, acme):
        operator, ada = operators.at(acme), acme.user("ada", name="Ada Lovelace")
        self.refuse(acme, ada.username)
        lock_newest(acme)
        answer = self.refuse(acme, ada.username)
        assert "Retry-After" in answer.headers

        sentence = self.explain(operator, answer)
        dashboard = text_of(operator.get("/admin/"))

        assert re.fullmatch(
            r"Sign-in with a password failed: too many wrong passwords were entered before "
            r"\(locked until \d\d:\d\d:\d\d UTC\)\.",
            sentence,
        )
        # The locked attempt has only a hash of the identifier. An earlier one tells whose it is.
        who = f'<a href="/admin/users/user/{ada.pk}/change/">Ada Lovelace</a></td>'
        assert re.search(rf"{re.escape(who)}<td[^>]*>{re.escape(sentence)}", dashboard)

    def test_an_unknown_identifier_stays_unreadable(self, acme):
        self.refuse(acme, "perhaps a password")

        dashboard = text_of(operators.at(acme).get("/admin/"))

        assert "Unknown identifier" in dashboard
        assert "perhaps a password" not in dashboard

    def test_administrators_are_told_apart_too(self, acme):
        world = cast.default_world()
        operator, who = operators.at(world), operators.administrator()
        body = {"username": who.username, "password": "wrong"}

        def sign_in(name=who.username):
            return connection().post(f"{world.address}/api/admin/sign-in", json=body | {"username": name})

        answers = [sign_in("nobody-at-all"), sign_in()]
        lock_newest(world)
        answers.append(sign_in())

        sentences = [self.explain(operator, answer) for answer in answers]

        start = "Sign-in of an administrator failed: "
        assert sentences[:2] == [f"{start}nobody has this identifier.", f"{start}the password is wrong."]
        assert sentences[2].startswith(f"{start}too many wrong passwords were entered before (locked until")


def test_the_dashboard_looks_up_a_reference(acme):
    operator = operators.at(acme)
    answer = acme.browser().sign_in(acme.user(), "wrong")

    page = text_of(operator.get("/admin/"))

    assert page.index("Look up a reference") < page.index("Recent failures")
    assert '<form action="/admin/why/"' in page
    assert 'name="reference"' in page
    assert answer.headers["X-Request-Id"] in page
