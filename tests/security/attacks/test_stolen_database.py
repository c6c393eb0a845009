"""Somebody has a copy of the database, without the keys of the installation: what it says, and what it opens.

A tenant is filled by every journey, each of which is stopped half way as well. Then every column of
every table is read. A new table or column is read unasked.
"""

import base64
import hashlib
import hmac
import itertools
import re
import secrets
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import connection

from identity.core import tenancy
from tests.support import authenticator, cast, codes, management, operators, social, third_parties
from tests.support.cast import query_of
from tests.support.forms import form
from tests.support.management import result_of
from tests.support.operators import text_of
from tests.support.two_step_page import PAGE, again, codes_on, key_on

Row = tuple[str, dict[str, str]]  # of a table: its columns as text

_DIGEST = re.compile(r"[0-9a-f]{16,}|[A-Za-z0-9_+/-]{20,}")
_FAST = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "blake2b", "blake2s")


def stolen(*tenants: str) -> list[Row]:
    """Every row of these tenants, and of the tables that know no tenant."""
    found: list[Row] = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            columns = [one.name for one in connection.introspection.get_table_description(cursor, table)]
            places = ", ".join(["%s"] * len(tenants))
            of_them = f" WHERE tenant_id IN ({places})" if "tenant_id" in columns else ""
            cursor.execute(f'SELECT * FROM "{table}"{of_them}', tenants if of_them else ())  # noqa: S608
            for row in cursor.fetchall():
                texts = {name: _text(value) for name, value in zip(columns, row, strict=True)}
                found.append((table, texts))
    return found


def _text(value: Any) -> str:
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex() + bytes(value).decode(errors="replace")
    return "" if value is None else str(value)


def readings(text: str) -> Iterator[str]:
    """A text, and what is found by taking off what hides nothing: base64 and compression."""
    yield text
    for part in re.split(r"[.:$ ]", text):
        if len(part) < 12 or not re.fullmatch(r"[A-Za-z0-9_+/=-]+", part):
            continue
        plain = part.replace("-", "+").replace("_", "/").rstrip("=")
        try:
            raw = base64.b64decode(plain + "=" * (-len(plain) % 4))
        except ValueError:
            continue
        yield raw.decode(errors="replace")
        with suppress(zlib.error):
            yield zlib.decompress(raw).decode(errors="replace")


def spellings(secret: str) -> set[str]:
    """How a secret may be written down."""
    raw = secret.encode()
    coded = {base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode().rstrip("=")}
    # Of tokens the last part is the one that nobody can make.
    last = {secret.rpartition(".")[2]} if secret.count(".") >= 2 else set()
    bare = {re.sub(r"[ -]", "", secret)}
    return {secret, raw.hex()} | coded | last | bare


def told(rows: Iterable[Row], held: dict[str, str]) -> set[tuple[str, str, str]]:
    """Where the rows say something that somebody holds: its name, the table and the column."""
    wanted = [(name, one) for name, secret in held.items() for one in spellings(secret)]
    return {
        (name, table, column)
        for table, row in rows
        for column, text in row.items()
        for reading in readings(text)
        for name, spelled in wanted
        if spelled in reading
    }


def guessed(rows: Iterable[Row], guesses: set[str]) -> set[tuple[str, str, str]]:
    """Where the rows hold a fast hash, without a key, of something that can be guessed."""
    found = set()
    for table, row in rows:
        columns = {name: text for name, text in row.items() if _DIGEST.search(text)}
        salts = {"", row.get("id", ""), row.get("tenant_id", ""), row.get("kind", "")}
        for guess, digest in _digests(guesses, salts) if columns else ():
            coded = (base64.b64encode(digest), base64.urlsafe_b64encode(digest))
            beginnings = {digest.hex()[:16], *(one.decode()[:20] for one in coded)}
            for column, text in columns.items():
                if any(beginning in text for beginning in beginnings):
                    found.add((guess, table, column))
    return found


def _digests(guesses: set[str], salts: set[str]) -> Iterator[tuple[str, bytes]]:
    for guess, salt, name in itertools.product(guesses, salts, _FAST):
        texts = {f"{salt}{by}{guess}" for by in ("", " ", ":", "/", ".")} | {f"{guess}{salt}"}
        yield from ((guess, hashlib.new(name, text.encode()).digest()) for text in texts)
        yield guess, hmac.digest(salt.encode(), guess.encode(), name)


@dataclass
class Journeys:
    """People, applications and operators do everything there is; what they hold is remembered."""

    world: cast.World
    held: dict[str, str] = field(default_factory=dict)
    guesses: set[str] = field(default_factory=lambda: {"127.0.0.1", "127.0.0.0/24"})
    rows: list[Row] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.steal()  # what other tests left is not looked at
        self.rows.clear()

    def keep(self, name: str, secret: str) -> str:
        assert len(secret) >= 6, name
        self.held[name] = secret
        return secret

    def password(self, name: str) -> str:
        return self.keep(name, f"Canary1 {secrets.token_hex(12)}")

    def typed(self, guess: str) -> str:
        self.guesses.add(guess)
        return guess

    def steal(self) -> None:
        """Take a copy of the database as it is now."""
        for row in stolen(self.world.tenant.pk, tenancy.DEFAULT_ID):
            if (said := repr(row)) not in self.seen:
                self.seen.add(said)
                self.rows.append(row)

    def cookies(self, whose: str, http: Any) -> None:
        for name, value in http.cookies.items():
            self.keep(f"cookie {name} of {whose}", value)

    def code(self, browser: cast.Browser, identifier: str, purpose: str) -> str:
        """Have a code sent, and take a copy before it is entered."""
        codes.let_time_pass(self.world)
        before = len(codes.messages_to(identifier))
        answer = codes.send(browser, identifier, purpose)
        assert answer.status_code == 200, answer.text
        self.steal()
        # Six digits stand in many a number: they are looked for as hashes only.
        return self.typed(str(codes.message_to(identifier, number=before + 1)["code"]))

    def strangers(self) -> None:
        """Type what is nobody's, as identifiers: among it a password."""
        browser = self.world.browser()
        for identifier in (f"nobody-{secrets.token_hex(4)}", codes.new_email(), codes.new_phone()):
            password = self.password(f"wrong for {identifier}")
            credentials = {"identifier": self.typed(identifier), "password": password}
            assert browser.post("/api/interaction/sign-in", json=credentials).status_code == 401
        mistyped = {"identifier": self.password("typed as a username").replace(" ", "-"), "password": "x"}
        browser.post("/api/interaction/sign-in", json=mistyped)
        self.held["typed as a username"] = mistyped["identifier"]
        operators_site = {"username": self.password("typed by an operator"), "password": "x"}
        self.world.post("/api/admin/sign-in", json=operators_site)
        self.cookies("a stranger", browser.http)

    def people(self) -> None:
        email, browser = self.typed(codes.new_email()), self.world.browser()
        result_of(codes.enter(browser, email, self.code(browser, email, "register"), "register"))
        self.steal()
        person = {"username": f"u-{secrets.token_hex(4)}", "email": email, "password": self.password("first")}
        result_of(browser.post(codes.REGISTER, json=person))
        self.cookies("who registered", browser.http)
        forgetful = self.world.browser()
        code = self.code(forgetful, email, "forgot_password")
        result_of(codes.enter(forgetful, email, code, "forgot_password"))
        self.steal()
        new = {"identifier": email, "new_password": self.password("second")}
        result_of(forgetful.post(codes.RESET, json=new))
        self.cookies("who forgot", forgetful.http)
        elsewhere = self.world.browser()
        known = {"identifier": email, "password": new["new_password"]}
        result_of(elsewhere.post("/api/interaction/sign-in", json=known))
        self.cookies("who signed in", elsewhere.http)
        moved = self.typed(codes.new_email())
        page = third_parties.send(elsewhere, "/account/email", identifier=moved, password=known["password"])
        assert page.status_code == 303, page.text
        self.steal()
        code = self.typed(str(codes.message_to(moved)["code"]))
        assert third_parties.send(elsewhere, "/account/email/code", code=code).status_code == 303
        self.keep("csrf token", form(elsewhere.get("/account/profile")).fields["csrfmiddlewaretoken"])

    def applications(self) -> None:
        user, browser = self.world.user(password=self.password("user's")), self.world.browser()
        first, third = self.world.application(), self.world.application(is_third_party=True)
        machine = self.world.application("MachineToMachine")
        for name, client in (("first", first), ("third", third), ("machine", machine)):
            self.keep(f"secret of {name}", client.secret)
            self.keep(f"verifier of {name}", client.verifier)
        waiting = query_of(browser.authorize(first).headers["Location"])["interaction"]
        signed_in = browser.sign_in(user, self.held["user's"], interaction=waiting)
        answer = browser.get(signed_in.json()["result"]["redirect_to"])
        code = self.keep("authorization code", query_of(answer.headers["Location"])["code"])
        self.steal()
        tokens = first.redeem(code).json()
        self.tokens("first", tokens)
        self.tokens("refreshed", first.refresh(tokens["refresh_token"]).json())
        self.tokens("third", third_parties.connect(browser, third))
        self.tokens("machine", machine.token(grant_type="client_credentials").json())
        # A request that waits, with the token of a person as a hint.
        parked = browser.authorize(first, prompt="login", id_token_hint=tokens["id_token"])
        assert "interaction=" in parked.headers["Location"]
        traveller = self.world.browser()
        self.keep("state of a trip", query_of(social.away(traveller, "oauth2"))["state"])
        self.cookies("a traveller", traveller.http)
        self.cookies("an application's user", browser.http)
        self.steal()

    def tokens(self, whose: str, answer: dict[str, Any]) -> None:
        for name in {"access_token", "refresh_token", "id_token"} & answer.keys():
            self.keep(f"{name} of {whose}", answer[name])

    def operators(self) -> None:
        operator = operators.at(self.world)
        admin = management.superuser(self.world)
        self.keep("administrator's token", str(admin.token))
        password = self.password("administrator's")
        root = admin.at(cast.default_world())
        root.created("/administrators", username=f"a-{secrets.token_hex(4)}", password=password)
        config = {"from_email": "a@b.example", "api_key": self.password("of a connector")}
        admin.created("/connectors", connector_id="sendgrid", type="Email", config=config)
        robot = admin.created("/applications", name="Robot", type="MachineToMachine")
        self.keep("secret by the API", robot["client_secret"])
        key = key_on(text_of(operator.get(PAGE)))
        self.keep("seed", key)
        self.keep("seed in bytes", base64.b32decode(key.replace(" ", "")).hex())
        self.steal()
        answer = operator.submit(PAGE, password=cast.PASSWORD, code=authenticator.code(key))
        assert answer.status_code == 303, text_of(answer)
        self.steal()
        for number, recovery in enumerate(codes_on(text_of(operator.get(answer.headers["Location"])))):
            self.keep(f"recovery code {number}", recovery)
        half = again(operator)
        self.cookies("half an operator", half.http)
        secret = f"/admin/applications/application/{robot['id']}/do/secret/"
        made = operator.submit(secret)
        assert made.status_code == 303
        self.steal()
        page = text_of(operator.get(made.headers["Location"]))
        shown = re.findall(r'readonly value="([A-Za-z0-9_-]{40,})"', page)
        self.keep("secret by the site", shown[0])
        self.cookies("an operator", operator.http)


@pytest.fixture(scope="module")
def journeys(address: str) -> Journeys:
    world = codes.reachable(cast.new_world("Stolen"))
    social.connect(world, social.oauth2_config("https://login.example"), "oauth2")
    codes.experience(world, sign_up={"identifiers": ["username", "email"], "verify": True})
    done = Journeys(world)
    done.strangers()
    done.people()
    done.applications()
    done.operators()
    done.steal()
    return done


def test_the_walk_finds_what_it_looks_for() -> None:
    secret, guess = secrets.token_urlsafe(32), "123456"
    packed = base64.urlsafe_b64encode(zlib.compress(f'{{"a": "{secret}"}}'.encode())).decode().rstrip("=")
    salted = hashlib.sha256(f"row {guess}".encode()).hexdigest()
    rows: list[Row] = [
        ("a", {"clear": f"x {secret}"}),
        ("b", {"packed": f".{packed}:1:sig"}),
        ("c", {"id": "row", "h": salted}),
        ("d", {"keyed": hmac.digest(secrets.token_bytes(32), guess.encode(), "sha256").hex()}),
    ]

    assert told(rows, {"it": secret}) == {("it", "a", "clear"), ("it", "b", "packed")}
    assert guessed(rows, {guess}) == {(guess, "c", "h")}


def test_attack_no_column_says_what_somebody_holds(journeys: Journeys) -> None:
    assert len(journeys.held) > 50

    assert told(journeys.rows, journeys.held) == set()


def test_attack_no_column_holds_a_fast_hash_of_what_can_be_guessed(journeys: Journeys) -> None:
    assert len(journeys.guesses) > 8

    assert guessed(journeys.rows, journeys.guesses) == set()


def test_attack_nothing_that_is_stored_opens_anything(journeys: Journeys) -> None:
    """A hash in the place of what it was made of, as a cookie, a code or a token."""
    world, client = journeys.world, journeys.world.application()
    stored = {text for _, row in journeys.rows for text in row.values() if re.fullmatch(_DIGEST, text)}
    stored = {text for text in stored if len(text) <= 128}
    assert len(stored) > 20
    names = {name.partition(" of ")[0].removeprefix("cookie ") for name in journeys.held if "cookie " in name}

    for text in sorted(stored):
        cookies = dict.fromkeys(names, text)
        assert world.get("/account", cookies=cookies).status_code != 200
        assert cast.default_world().get("/admin/tenant/", cookies=cookies).status_code != 200
    for text in sorted(stored)[:100]:
        assert client.redeem(text).status_code == client.refresh(text).status_code == 400
