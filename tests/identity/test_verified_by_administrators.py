"""Emails and phones that an administrator verifies: what the flag proves, and what ends without it."""

import httpx
import pytest
from django.conf import settings

from audit.models import Entry
from identity.core.errors import Invalid
from identity.organizations import enrolment
from identity.organizations.models import Membership, Organization
from identity.users import importing, ownership
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.models import User
from management.administrators.models import Administrator
from tests.support import codes, management, operators
from tests.support.admin_pages import operate
from tests.support.cast import PASSWORD, World
from tests.support.codes import new_email, new_phone
from tests.support.management import Caller, refusal_of, result_of

SIGN_IN = "/api/interaction/sign-in"


@pytest.fixture
def acme(acme: World) -> World:
    return codes.reachable(acme)


@pytest.fixture
def admin(acme: World) -> Caller:
    return management.superuser(acme)


@pytest.fixture
def operator(acme: World) -> operators.Operator:
    return operators.at(acme)


def registered(world: World, **fields: str) -> User:
    """A user who registered and proved nothing."""
    given = {"username": "sam", "email": "", "phone": "", "name": "", "password": PASSWORD} | fields
    with world.active():
        user = users.new_user(**given, verified=set())
        users.add(user)
    return user


def stored(world: World, user: User) -> User:
    with world.active():
        return User.objects.get(pk=user.pk)


def support_of(world: World) -> Administrator:
    return operators.administrator(role="support", tenants=[world.tenant.slug])


def sign_in_by_code(world: World, address: str) -> httpx.Response:
    browser = world.browser()
    number = len(codes.messages_to(address)) + 1
    assert codes.send(browser, address).status_code == 200
    return codes.enter(browser, address, codes.message_to(address, number=number)["code"])


def last_update(world: World, user: User) -> Entry:
    entries = Entry.objects.filter(tenant_id=world.tenant.pk, key="User.Update", payload__id=str(user.pk))
    return entries.order_by("created_at", "pk").reverse()[0]


class TestWhoMaySetIt:
    def test_decision_Q7_an_administrator_sets_both_with_a_new_user(self, admin):
        user = admin.created(
            "/users",
            username="ann",
            password=PASSWORD,
            email=new_email(),
            phone=new_phone(),
            email_verified=True,
            phone_verified=True,
        )

        assert (user["email_verified"], user["phone_verified"]) == (True, True)

    def test_decision_Q7_an_administrator_sets_and_unsets_it(self, acme, admin):
        user = acme.user(email=new_email(), phone=new_phone())

        after = [
            result_of(admin.patch(f"/users/{user.pk}", **{name: flag}))[name]
            for name in ("email_verified", "phone_verified")
            for flag in (True, False, True)
        ]

        assert after == [True, False, True] * 2

    def test_decision_Q7_an_application_with_the_management_scope_sets_it(self, acme):
        user = acme.user(email=new_email())

        changed = result_of(management.machine(acme).patch(f"/users/{user.pk}", email_verified=True))

        assert changed["email_verified"] is True

    def test_decision_Q7_support_may_not(self, acme):
        support = support_of(acme)
        token = management.administrator_token(support.username, PASSWORD, settings.BASE_URL)
        caller = Caller(acme, token)
        user = acme.user(email=new_email())
        new = {"username": "new", "password": PASSWORD, "email": new_email()}

        assert refusal_of(caller.patch(f"/users/{user.pk}", email_verified=True), 403)
        assert refusal_of(caller.post("/users", **new, email_verified=True), 403)
        assert not stored(acme, user).email_verified

    def test_decision_Q7_the_members_api_and_the_registration_ignore_it(self, acme):
        mail, phone = new_email(), new_phone()
        fields = {"username": "rob", "email": mail, "password": PASSWORD, "email_verified": True}

        acme.browser().post(codes.REGISTER, json=fields)
        with acme.active():
            member = enrolment.enroll(
                Organization.objects.create(name="Chapter"), phone=phone, email=new_email()
            ).user

        with acme.active():
            assert not User.objects.get(email=mail).has_proven(Kind.EMAIL)
            assert not member.phone_verified

    def test_decision_Q7_an_import_takes_it_and_refuses_it_without_an_address(self, acme):
        with acme.active():
            ann = importing.new_imported_user(
                {"username": "ann", "email": new_email(), "email_verified": True},
                source="old",
                foreign_id="1",
            )
            importing.add([ann])
            with pytest.raises(Invalid, match="phone_verified"):
                importing.new_imported_user(
                    {"username": "bob", "phone_verified": True}, source="old", foreign_id="2"
                )

        assert stored(acme, ann).email_verified

    def test_decision_Q7_another_tenant_s_administrator_does_not_reach_the_user(self, acme, rival):
        user = acme.user(email=new_email())

        answer = management.superuser(rival).patch(f"/users/{user.pk}", email_verified=True)

        assert refusal_of(answer, 404)
        assert not stored(acme, user).email_verified

    def test_decision_Q7_the_log_says_who_verified_what(self, acme, admin):
        user = acme.user(email=new_email())

        result_of(admin.patch(f"/users/{user.pk}", email_verified=True, name="Ann"))

        payload = last_update(acme, user).payload
        assert payload["fields"] == ["email_verified", "name"]
        assert (payload["before"], payload["values"]) == ({"email_verified": False}, {"email_verified": True})
        assert payload["administrator_id"]


class TestOperators:
    def test_decision_Q7_verify_addresses_at_the_site(self, acme, operator):
        user = acme.user(email=new_email())

        answer = operate(operator, "users/user", user, "verify", email_verified="on")

        assert answer.status_code == 303
        assert (stored(acme, user).email_verified, stored(acme, user).phone_verified) == (True, False)

    def test_decision_Q8_an_edit_of_the_address_at_the_site_makes_it_unverified(self, acme, admin, operator):
        user, mail = acme.user(email=new_email()), new_email()
        result_of(admin.patch(f"/users/{user.pk}", email_verified=True))

        operate(operator, "users/user", stored(acme, user), "change", name="", email=mail, phone="")

        assert (stored(acme, user).email, stored(acme, user).email_verified) == (mail, False)

    def test_decision_Q7_support_may_not_at_the_site(self, acme):
        support = operators.at(acme, support_of(acme))
        fields = {"username": "new", "password": PASSWORD, "email": new_email(), "email_verified": "on"}

        answer = operate(support, "users/user", None, "create", **fields)

        assert answer.status_code == 403
        with acme.active():
            assert not User.objects.filter(username="new").exists()


class TestValues:
    @pytest.mark.parametrize("name", ["email_verified", "phone_verified"])
    @pytest.mark.parametrize("value", [1, 0, "true", "", [], {}, 1.0])
    def test_decision_Q8_anything_but_a_boolean_or_null_is_refused(self, acme, admin, name, value):
        user = acme.user(email=new_email(), phone=new_phone())

        assert name in refusal_of(admin.patch(f"/users/{user.pk}", **{name: value}), 400)
        assert name in refusal_of(admin.post("/users", username="x", password=PASSWORD, **{name: value}), 400)

    @pytest.mark.parametrize("name", ["email_verified", "phone_verified"])
    def test_decision_Q8_true_without_an_address_is_refused(self, acme, admin, name):
        user, kind = acme.user(email=new_email(), phone=new_phone()), name.removesuffix("_verified")

        for refused in (
            admin.patch(f"/users/{acme.user().pk}", **{name: True}),
            admin.patch(f"/users/{user.pk}", **{name: True, kind: ""}),
            admin.post("/users", username="x", password=PASSWORD, **{name: True}),
        ):
            assert refusal_of(refused, 400) == f"{name}: must be false for a user without {kind}"

    @pytest.mark.parametrize("value", [False, None])
    def test_decision_Q8_false_and_null_without_an_address_change_nothing(self, acme, admin, value):
        user = acme.user()
        before = admin.get(f"/users/{user.pk}")

        after = admin.patch(f"/users/{user.pk}", email_verified=value, phone_verified=value)

        assert (after.json(), after.headers["ETag"]) == (before.json(), before.headers["ETag"])

    def test_decision_Q8_a_changed_address_is_unverified_and_the_same_one_keeps_its_flag(self, acme, admin):
        mail = new_email()
        user = admin.created("/users", username="ann", password=PASSWORD, email=mail, email_verified=True)
        path = f"/users/{user['id']}"

        same = result_of(admin.patch(path, email=mail, name="Ann"))
        changed = result_of(admin.patch(path, email=new_email()))
        vouched = result_of(admin.patch(path, email=new_email(), email_verified=True))

        flags = [row["email_verified"] for row in (same, changed, vouched)]
        assert flags == [True, False, True]

    def test_decision_Q8_another_spelling_of_the_address_is_unverified(self, acme, admin):
        user = admin.created(
            "/users", username="ann", password=PASSWORD, email="a@strasse.example", email_verified=True
        )

        changed = result_of(admin.patch(f"/users/{user['id']}", email="a@straße.example"))

        assert (changed["email"], changed["email_verified"]) == ("a@straße.example", False)

    def test_decision_Q8_null_takes_it_back_like_false(self, acme, admin):
        user = acme.user(email=new_email())
        result_of(admin.patch(f"/users/{user.pk}", email_verified=True))

        assert result_of(admin.patch(f"/users/{user.pk}", email_verified=None))["email_verified"] is False


class TestWhatTheFlagProves:
    def test_decision_Q8_it_proves_an_address_that_somebody_registered(self, acme, admin):
        user = registered(acme, email=new_email(), phone=new_phone())
        with acme.active():
            users.change(
                user, {"phone": user.phone}, proven=Kind.PHONE, is_proven=True
            )  # so the account has an owner

        result_of(admin.patch(f"/users/{user.pk}", email_verified=True))

        after = stored(acme, user)
        assert (after.has_proven(Kind.EMAIL), after.has_own_proof(Kind.EMAIL)) == (True, False)
        assert after.password == user.password

    def test_decision_N1_2_it_ends_what_an_unowned_account_had(self, acme, admin):
        mail = new_email()
        user = registered(acme, email=mail, phone=new_phone())
        browser = acme.browser()
        browser.post(SIGN_IN, json={"identifier": "sam", "password": PASSWORD})

        result_of(admin.patch(f"/users/{user.pk}", email_verified=True))

        after = stored(acme, user)
        assert (after.email, after.email_verified, after.phone, after.password) == (mail, True, "", "")
        assert browser.get("/account").status_code == 303
        assert sign_in_by_code(acme, mail).status_code == 200

    def test_decision_N1_2_both_flags_keep_both_addresses(self, acme, admin):
        mail, phone = new_email(), new_phone()
        user = registered(acme, email=mail, phone=phone)

        result_of(admin.patch(f"/users/{user.pk}", email_verified=True, phone_verified=True))

        after = stored(acme, user)
        assert (after.email, after.phone, after.password) == (mail, phone, "")

    def test_decision_N1_3_a_new_user_s_flag_takes_the_address_from_who_had_not_proven_it(self, acme, admin):
        mail = new_email()
        squatter = registered(acme, email=mail)

        admin.created("/users", username="ann", password=PASSWORD, email=mail, email_verified=True)

        assert stored(acme, squatter).email == ""

    def test_decision_Q8_false_alone_proves_nothing(self, acme, admin):
        user = registered(acme, email=new_email())

        result_of(admin.patch(f"/users/{user.pk}", email_verified=False, name="Sam"))

        after = stored(acme, user)
        assert (after.has_proven(Kind.EMAIL), after.password) == (False, user.password)


class TestWhatUnsettingEnds:
    def owned(self, world: World, **fields: str) -> User:
        """A user with an unproven email, and a proven phone."""
        user = registered(world, email=new_email(), phone=new_phone(), **fields)
        with world.active():
            users.change(user, {"phone": user.phone}, proven=Kind.PHONE, is_proven=True)
        return user

    def set_flag(self, world: World, user: User, flag: bool) -> None:
        result_of(management.superuser(world).patch(f"/users/{user.pk}", email_verified=flag))

    def test_decision_Q8_what_only_the_flag_proved_is_unproven_again(self, acme):
        user = self.owned(acme)
        self.set_flag(acme, user, flag=True)

        self.set_flag(acme, user, flag=False)

        assert not stored(acme, user).has_proven(Kind.EMAIL)
        with acme.active():
            assert ownership.find_by_proof(Kind.EMAIL, str(user.email_key)) is None

    def test_decision_Q8_whoever_then_proves_it_gets_it(self, acme, admin):
        user = self.owned(acme)
        self.set_flag(acme, user, flag=True)
        other = {"username": "other", "password": PASSWORD, "email": user.email}
        kept = refusal_of(admin.post("/users", **other), 400)

        self.set_flag(acme, user, flag=False)
        admin.created("/users", **other)

        assert kept == "email: already exists"
        assert stored(acme, user).email == ""

    def test_decision_Q8_what_a_code_proved_meanwhile_stays_proven(self, acme):
        user = self.owned(acme)
        self.set_flag(acme, user, flag=True)
        assert sign_in_by_code(acme, user.email).status_code == 200

        self.set_flag(acme, user, flag=False)

        after = stored(acme, user)
        assert (after.email_verified, after.has_proven(Kind.EMAIL)) == (False, True)

    def test_decision_Q8_what_a_code_proved_before_stays_proven(self, acme):
        user = self.owned(acme)
        with acme.active():
            users.change(user, {"email": user.email}, proven=Kind.EMAIL, is_proven=True)

        self.set_flag(acme, user, flag=False)

        assert stored(acme, user).has_proven(Kind.EMAIL)

    def test_decision_Q8_an_address_that_an_administrator_entered_stays_proven(self, acme, admin):
        user = admin.created(
            "/users", username="ann", password=PASSWORD, email=new_email(), email_verified=True
        )

        result_of(admin.patch(f"/users/{user['id']}", email_verified=False))

        with acme.active():
            assert User.objects.get(pk=user["id"]).has_proven(Kind.EMAIL)

    @pytest.mark.parametrize("was_verified", [True, False])
    def test_decision_Q8_a_row_of_the_first_release_keeps_what_it_proved(self, acme, was_verified):
        user = self.owned(acme)
        with acme.active():
            User.objects.filter(pk=user.pk).update(email_proven=None, email_verified=was_verified)

        for flag in (True, False):
            self.set_flag(acme, user, flag=flag)

        assert stored(acme, user).has_proven(Kind.EMAIL) is was_verified

    def test_decision_Q8_a_membership_by_a_phone_that_only_the_flag_proved_ends_with_it(self, acme, admin):
        phone = new_phone()
        user = registered(acme, email=new_email(), phone=phone)
        with acme.active():
            users.change(user, {"email": user.email}, proven=Kind.EMAIL, is_proven=True)
        result_of(admin.patch(f"/users/{user.pk}", phone_verified=True))
        with acme.active():
            member = enrolment.enroll(Organization.objects.create(name="Chapter"), phone=phone)
        assert member.user_id == user.pk

        result_of(admin.patch(f"/users/{user.pk}", phone_verified=False))
        admin.created("/users", username="owner", password=PASSWORD, phone=phone)

        with acme.active():
            assert not Membership.objects.filter(user=user).exists()
