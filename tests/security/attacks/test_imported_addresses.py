"""Users who are imported with the address of another person, which the other system has not verified."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from audit.models import Entry
from identity.organizations.models import Membership
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.models import User
from tests.support import codes, import_page, management, operators
from tests.support.cast import PASSWORD, World, hash_of_the_password
from tests.support.codes import new_email, new_phone
from tests.support.enrollers import Enroller
from tests.support.imports import run, sign_in
from tests.support.management import Caller, result_of

Make = Callable[[dict[str, Any]], str]


@pytest.fixture
def acme(acme: World) -> World:
    return codes.reachable(acme)


def lines(*rows: dict[str, Any]) -> str:
    return "\n".join(map(json.dumps, rows))


def table(*rows: dict[str, Any]) -> str:
    out = StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def realm(*people: dict[str, Any]) -> str:
    return json.dumps({"realm": "acme", "users": people})


def of_keycloak(**fields: Any) -> dict[str, Any]:
    password = {
        "type": "password",
        "secretData": json.dumps({"value": hash_of_the_password()}),
        "credentialData": json.dumps({"algorithm": "argon2id"}),
    }
    return {"id": "1", "enabled": True, "credentials": [password]} | fields


def imported(world: World, folder: Path, text: str, *arguments: str) -> dict[str, Any]:
    path = folder / ("users.csv" if "csv" in arguments else "users.jsonl")
    path.write_text(text)
    ran = run(world, path, "--format", *arguments)
    return ran.summary


def user(world: World, **look_up: Any) -> User:
    with world.active():
        return User.objects.get(**look_up)


def of_csv(mail: str) -> tuple[str, str]:
    row = {"id": "1", "username": "mallory", "email": mail, "email_verified": "false"}
    return "csv", table(row | {"password_hash": hash_of_the_password()})


def of_lines(mail: str) -> tuple[str, str]:
    row = {"id": "1", "username": "mallory", "email": mail, "email_verified": False}
    return "jsonl", lines(row | {"password_hash": hash_of_the_password()})


def of_auth0(mail: str) -> tuple[str, str]:
    row = {"user_id": "auth0|1", "email": mail, "email_verified": False}
    return "auth0", lines(row | {"passwordHash": hash_of_the_password()})


def of_realm(mail: str) -> tuple[str, str]:
    return "keycloak", realm(of_keycloak(username="mallory", email=mail, emailVerified=False))


def of_realm_username(mail: str) -> tuple[str, str]:
    return "keycloak", realm(of_keycloak(username=mail))


def of_auth0_username(mail: str) -> tuple[str, str]:
    return "auth0", lines({"user_id": "1", "username": mail, "passwordHash": hash_of_the_password()})


def of_django_username(mail: str) -> tuple[str, str]:
    fields = {"username": mail, "email": "", "password": hash_of_the_password()}
    return "django", json.dumps([{"model": "auth.user", "pk": 1, "fields": fields}])


UNVERIFIED = [
    of_csv, of_lines, of_auth0, of_realm, of_realm_username, of_auth0_username, of_django_username
]  # fmt: skip


class TestTheOwnerComes:
    @pytest.mark.parametrize("export", UNVERIFIED)
    def test_attack_AW11_by_a_code_and_has_the_account_alone(self, acme, tmp_path, export):
        mail = new_email()
        format_, text = export(mail)
        assert imported(acme, tmp_path, text, format_)["imported"] == 1
        thief = acme.browser()
        entered = thief.post("/api/interaction/sign-in", json={"identifier": mail, "password": PASSWORD})
        assert (entered.status_code, thief.get("/account").status_code) == (200, 200)

        owner = acme.browser()
        codes.proven(owner, mail, "sign_in")

        assert owner.get("/account").status_code == 200
        assert thief.get("/account").status_code == 303
        assert sign_in(acme, mail, PASSWORD) == 401

    def test_attack_AW11_by_registration_although_the_account_has_an_address_of_its_own(self, acme, tmp_path):
        mail, phone = new_email(), new_phone()
        row = {"id": "1", "username": "mallory", "email": mail, "email_verified": False}
        imported(acme, tmp_path, lines(row | {"phone": phone, "phone_verified": True}), "jsonl")
        codes.experience(acme, sign_up={"identifiers": ["username", "email"]})
        owner = acme.browser()
        codes.proven(owner, mail, "register")

        answer = owner.post(codes.REGISTER, json={"username": "ann", "password": PASSWORD, "email": mail})

        assert answer.status_code == 200, answer.text
        assert user(acme, username="ann").has_proven(Kind.EMAIL)
        assert user(acme, username="mallory").email == ""

    def test_attack_AW11_of_an_account_of_firebase(self, acme, tmp_path):
        mail = new_email()
        text = json.dumps({"users": [{"localId": "1", "email": mail, "emailVerified": False}]})

        imported(acme, tmp_path, text, "firebase")

        assert not user(acme, email=mail).has_proven(Kind.EMAIL)

    def test_attack_AW11_of_an_account_that_the_site_imported(self, acme):
        mail = new_email()
        text = table({"id": "1", "username": "mallory", "email": mail, "email_verified": "false"})

        import_page.run(operators.at(acme), text.encode())

        assert not user(acme, email=mail).has_proven(Kind.EMAIL)

    @pytest.mark.parametrize("flag", [False, None])
    def test_attack_AW11_of_an_account_that_the_api_created_with_a_hash(self, acme, flag):
        mail, phone = new_email(), new_phone()

        management.superuser(acme).created(
            "/users",
            username="mallory",
            password_hash=hash_of_the_password(),
            email=mail,
            email_verified=flag,
            phone=phone,
        )

        made = user(acme, username="mallory")
        assert (made.has_proven(Kind.EMAIL), made.has_proven(Kind.PHONE)) == (False, True)

    @pytest.mark.parametrize("username", ["4915155500111", "+49 151 555 00111"])
    def test_attack_AW11_of_a_phone_that_was_a_username(self, acme, tmp_path, username):
        attributes = {"phoneNumberVerified": ["true"]}

        imported(acme, tmp_path, realm(of_keycloak(username=username, attributes=attributes)), "keycloak")

        made = user(acme, phone_key="4915155500111")
        assert (made.has_proven(Kind.PHONE), made.phone_verified) == (False, False)


class TestWhatTheSourceKnows:
    def test_decision_I10_a_verified_address_stays_proven(self, acme, tmp_path):
        mail = new_email()
        person = of_keycloak(username=mail, email=mail, emailVerified=True)

        imported(acme, tmp_path, realm(person), "keycloak")

        made = user(acme, email=mail)
        assert (made.has_proven(Kind.EMAIL), made.email_verified, made.self_registered) == (True, True, False)

    @pytest.mark.parametrize("row", [{}, {"email_verified": None}, {"email_verified": ""}])
    def test_decision_I10_the_operator_vouches_where_nothing_is_said(self, acme, tmp_path, row):
        mail = new_email()

        imported(acme, tmp_path, lines({"id": "1", "email": mail} | row), "jsonl")

        made = user(acme, email=mail)
        assert (made.has_proven(Kind.EMAIL), made.email_verified) == (True, False)


class TestTwoUsersHaveOneAddress:
    """One has verified it in the other system, one has not."""

    def rows(self, mail: str) -> list[dict[str, Any]]:
        row = {"email": mail, "phone": new_phone(), "phone_verified": True}
        return [
            row | {"id": "1", "username": "mallory", "email_verified": False},
            {"id": "2", "username": "ann", "email": mail, "email_verified": True},
        ]

    @pytest.mark.parametrize("batch", ["1", "500"])
    def test_attack_AW11_the_one_who_verified_it_has_it(self, acme, tmp_path, batch):
        mail = new_email()
        text = lines(*self.rows(mail))
        tried = imported(acme, tmp_path, text, "jsonl", "--batch", batch, "--dry-run")

        summary = imported(acme, tmp_path, text, "jsonl", "--batch", batch)

        assert (summary["imported"], summary["refused"]) == (2, 0)
        assert (tried["imported"], tried["refused"]) == (2, 0)
        assert (user(acme, username="mallory").email, user(acme, username="ann").email) == ("", mail)
        moved = Entry.objects.filter(tenant_id=acme.tenant.pk, key__startswith="Identifier.")
        assert {entry.key for entry in moved} == {"Identifier.Remove", "Identifier.Take"}

    @pytest.mark.parametrize("batch", ["1", "500"])
    def test_attack_AW11_the_other_takes_nothing_later(self, acme, tmp_path, batch):
        mail = new_email()
        text = lines(*reversed(self.rows(mail)))
        tried = imported(acme, tmp_path, text, "jsonl", "--batch", batch, "--dry-run")

        summary = imported(acme, tmp_path, text, "jsonl", "--batch", batch)

        assert (summary["imported"], summary["refused"]) == (1, 1)
        assert (tried["imported"], tried["refused"]) == (1, 1)
        assert user(acme, username="ann").email == mail

    def test_attack_AW11_an_unverified_one_takes_nothing_from_a_user_who_registered(self, acme, tmp_path):
        mail = new_email()
        with acme.active():
            fields = {"email": mail, "phone": "", "name": "", "password": PASSWORD}
            users.add(users.new_user(username="ann", verified=set(), **fields))

        imported(acme, tmp_path, lines(self.rows(mail)[0]), "jsonl")

        assert user(acme, email=mail).username == "ann"


class TestAnOrganizationAddsThePhone:
    """The members API joins accounts that it created itself, and no others whose phone is unproven."""

    def add(self, world: World, phone: str) -> User:
        answer = Enroller(world, "Theirs").post(phone=phone)
        assert answer.status_code == 200, answer.text
        with world.active():
            return Membership.objects.get().user

    @pytest.mark.parametrize("username", ["mallory", ""])
    def test_attack_AW11_an_imported_account_is_not_joined(self, acme, tmp_path, username):
        phone = new_phone()
        row = {"id": "1", "username": username, "phone": phone, "phone_verified": False}
        imported(acme, tmp_path, lines(row | {"password_hash": hash_of_the_password()}), "jsonl")
        before = user(acme, phone=phone)

        member = self.add(acme, phone)

        assert member.pk != before.pk
        assert (member.phone, member.password) == (phone, "")

    def test_attack_AW11_an_account_that_support_created_is_not_joined(self, acme):
        phone = new_phone()
        support = operators.administrator(role="support", tenants=[acme.tenant.slug])
        token = management.administrator_token(support.username, PASSWORD, settings.BASE_URL)
        made = result_of(
            Caller(acme, token).post("/users", username="mallory", password=PASSWORD, phone=phone)
        )

        member = self.add(acme, phone)

        assert str(member.pk) != made["id"]
        assert (member.phone, member.password) == (phone, "")
