"""What a proof establishes, what it ends, and where it is written down."""

from importlib import import_module

import pytest
from django.apps import apps

from audit.models import Entry
from identity.core import tenancy
from identity.core.errors import Invalid
from identity.users import by_phone, importing, ownership, user_data
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.models import User
from tests.support import codes, management
from tests.support.cast import PASSWORD, World
from tests.support.codes import new_email, new_phone
from tests.support.management import refusal_of, result_of


@pytest.fixture
def acme(acme: World) -> World:
    return codes.reachable(acme)


def registered(world: World, **fields: str) -> User:
    """A user who registered and proved nothing."""
    given = {"username": "", "email": "", "phone": "", "name": "", "password": ""} | fields
    with world.active():
        user = users.new_user(**given, verified=set())
        users.add(user)
    return user


def stored(world: World, user: User) -> User:
    with world.active():
        return User.objects.get(pk=user.pk)


def entries(world: World, key: str) -> list[Entry]:
    return list(Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("created_at", "pk"))


class TestEveryAppSaysWhatEnds:
    def test_each_model_that_points_to_a_user_is_declared_once_with_a_reason(self):
        pointing = {
            model._meta.label
            for model in apps.get_models()
            for field in model._meta.get_fields()
            if field.concrete and field.is_relation and field.related_model is User
        }

        declared = [kind.model for kind in user_data.get_declarations()]

        assert sorted(declared) == sorted(pointing)
        assert all(kind.reason for kind in user_data.get_declarations())

    def test_a_model_that_nobody_declared_is_found(self, settings):
        declared = settings.USER_DATA
        settings.USER_DATA = [name for name in declared if not name.startswith("identity.sessions.")]
        user_data.get_declarations.cache_clear()
        try:
            assert "identity_sessions.Session" not in {kind.model for kind in user_data.get_declarations()}
        finally:
            settings.USER_DATA = declared
            user_data.get_declarations.cache_clear()


class TestAdministrators:
    def test_decision_N1_3_an_administrator_s_new_user_gets_the_address(self, acme):
        mail = new_email()
        squatter = registered(acme, username="mallory", email=mail)

        made = result_of(
            management.superuser(acme).post("/users", username="owner", password=PASSWORD, email=mail)
        )

        assert (made["email"], made["email_verified"]) == (mail, False)
        assert stored(acme, squatter).email == ""

    def test_decision_N1_3_an_administrator_s_edit_gets_the_address(self, acme):
        phone = new_phone()
        squatter, user = registered(acme, username="mallory", phone=phone), acme.user()

        result_of(management.superuser(acme).patch(f"/users/{user.pk}", primary_phone=phone))

        assert stored(acme, squatter).phone == ""
        assert stored(acme, user).has_proven(Kind.PHONE)
        assert stored(acme, user).password == user.password
        taken, removed = entries(acme, "Identifier.Take"), entries(acme, "Identifier.Remove")
        assert [one.user_id for one in taken] == [str(user.pk)]
        assert [one.user_id for one in removed] == [str(squatter.pk)]
        assert taken[0].payload["transfer_id"] == removed[0].payload["transfer_id"]
        assert str(user.pk) not in str(removed[0].payload)
        assert str(squatter.pk) not in str(taken[0].payload)

    def test_decision_N1_3_a_proven_address_stays_where_it_is(self, acme):
        mail = new_email()
        owner, user = acme.user(email=mail), acme.user()

        answer = management.superuser(acme).patch(f"/users/{user.pk}", primary_email=mail)

        assert "already exists" in refusal_of(answer, 400)
        assert stored(acme, owner).email == mail

    def test_decision_N1_2_an_address_that_an_administrator_sets_takes_an_unowned_account_over(self, acme):
        browser, mail = acme.browser(), new_email()
        fields = {"username": "sam", "password": PASSWORD, "phone": new_phone()}
        browser.post(codes.REGISTER, json=fields)
        with acme.active():
            user = User.objects.get(username="sam")

        result_of(management.superuser(acme).patch(f"/users/{user.pk}", primary_email=mail))

        after = stored(acme, user)
        assert (after.username, after.email, after.phone, after.password) == ("sam", mail, "", "")
        assert browser.get("/account").status_code == 303

    def test_decision_N1_2_an_address_that_is_sent_back_unchanged_proves_nothing(self, acme):
        mail = new_email()
        user = registered(acme, username="sam", email=mail, password=PASSWORD)

        result_of(management.superuser(acme).patch(f"/users/{user.pk}", primary_email=mail, name="Sam"))

        after = stored(acme, user)
        assert (after.has_proven(Kind.EMAIL), after.password) == (False, user.password)

    def test_decision_N1_3_the_loser_is_told_at_the_other_address(self, acme):
        mail, phone = new_email(), new_phone()
        squatter = registered(acme, username="mallory", email=mail, phone=phone)
        with acme.active():
            users.change(squatter, {"email": mail}, proven=Kind.EMAIL, is_proven=True)

        result_of(management.superuser(acme).patch(f"/users/{acme.user().pk}", primary_phone=phone))

        notice = codes.message_to(mail)
        assert notice["interaction_type"] == "notice_identifier_removed"
        assert phone not in notice["body"]


class TestImports:
    def test_decision_N1_3_an_import_proves_what_it_holds(self, acme):
        mail = new_email()
        squatter = registered(acme, username="mallory", email=mail)

        with acme.active():
            person = importing.new_imported_user(
                {"username": "ann", "email": mail}, source="old", foreign_id="1"
            )
            refused = importing.add([person])

        assert refused == []
        assert stored(acme, person).has_proven(Kind.EMAIL)
        assert not stored(acme, person).email_verified
        assert stored(acme, squatter).email == ""

    def test_decision_N1_3_a_proven_address_refuses_the_import(self, acme):
        mail = new_email()
        acme.user(email=mail)

        with acme.active():
            person = importing.new_imported_user(
                {"username": "ann", "email": mail}, source="old", foreign_id="1"
            )
            ((_, why),) = importing.add([person])

        assert isinstance(why, Invalid)


class TestRowsOfTheReleaseBefore:
    """Release 0.1.0 leaves both columns unset, and serves while this release migrates."""

    def as_before(self, world: World, user: User, **columns: object) -> User:
        with world.active():
            User.objects.filter(pk=user.pk).update(email_proven=None, phone_proven=None, **columns)
        return stored(world, user)

    def people(self, world: World) -> dict[str, User]:
        with world.active():
            member = by_phone.find_or_create(phone=new_phone(), name="", email=new_email()).user
            imported = importing.new_imported_user({"email": new_email()}, source="old", foreign_id="1")
            importing.add([imported])
        verified = registered(world, username="verified", email=new_email())
        return {
            "registered": self.as_before(world, registered(world, username="r", email=new_email())),
            "verified": self.as_before(world, verified, email_verified=True),
            "administrator": self.as_before(world, world.user(email=new_email())),
            "member": self.as_before(world, member),
            "imported": self.as_before(world, imported),
        }

    def test_are_read_by_what_they_say(self, acme):
        people = self.people(acme)

        proven = {name for name, user in people.items() if user.has_proven(Kind.EMAIL)}

        assert proven == {"verified", "administrator"}

    def test_decision_N1_are_migrated(self, acme, monkeypatch):
        people = self.people(acme)
        migration = import_module("identity.users.migrations.0007_existing_identifiers")
        monkeypatch.setattr(migration, "PIECE", 2)

        for _ in range(2):  # it can be repeated
            with tenancy.using(tenancy.EVERYWHERE):
                migration._set_proven(apps, None)

        after = {name: stored(acme, user) for name, user in people.items()}
        assert {name for name, user in after.items() if user.email_proven} == {
            "verified",
            "administrator",
            "imported",
        }
        assert all(user.email_proven is not None for user in after.values())
        assert after["member"].phone_proven is False
        assert after["administrator"].phone_proven is None
        assert {name: user.version for name, user in after.items()} == {
            name: user.version for name, user in people.items()
        }


class TestWhoeverIsLetIn:
    def test_decision_N1_1_an_unproven_identifier_costs_what_an_unknown_one_does(
        self, acme, django_assert_num_queries
    ):
        mail, phone = new_email(), new_phone()
        user = registered(acme, username="mallory", email=mail, phone=phone)
        with acme.active():
            users.change(user, {"phone": phone}, proven=Kind.PHONE, is_proven=True)
            for address, found in ((mail, False), (new_email(), False)):
                with django_assert_num_queries(1):
                    assert (ownership.find_by_proof(Kind.EMAIL, address) is not None) is found
            with django_assert_num_queries(1):
                assert ownership.find_by_proof(Kind.PHONE, phone.removeprefix("+")) == user

    def test_a_password_typed_with_an_unproven_email_goes_on_working_until_somebody_proves_it(self, acme):
        mail, browser = new_email(), acme.browser()
        asked = {"identifier": mail, "password": "a passw0rd of Sam"}
        fields = {"username": "sam", "email": mail, "password": asked["password"]}
        assert browser.post(codes.REGISTER, json=fields).status_code == 200

        before = acme.browser().post("/api/interaction/sign-in", json=asked).status_code
        result_of(management.superuser(acme).patch(f"/users/{acme.user().pk}", primary_email=mail))
        after = acme.browser().post("/api/interaction/sign-in", json=asked).status_code

        assert (before, after) == (200, 401)

    @pytest.mark.parametrize("is_own_browser", [True, False], ids=["the registered browser", "another"])
    def test_decision_N1_2_the_session_of_the_first_proof_is_live_and_all_others_have_ended(
        self, acme, is_own_browser
    ):
        mail, registered = new_email(), acme.browser()
        codes.experience(acme, sign_up={"identifiers": ["email"], "password": True, "verify": False})
        assert registered.post(codes.REGISTER, json={"email": mail, "password": PASSWORD}).status_code == 200
        browser = registered if is_own_browser else acme.browser()

        answer = codes.enter(browser, mail, codes.sent(browser, mail))

        assert answer.status_code == 200
        assert browser.get("/account").status_code == 200
        assert registered.get("/account").status_code == (200 if is_own_browser else 303)
