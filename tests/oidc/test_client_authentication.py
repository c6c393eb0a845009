"""How an application proves who it is, at the token and the revocation endpoint alike."""

import base64
import hmac
from unittest import mock
from urllib.parse import quote, quote_plus

import pytest
from django.test import Client

from audit.models import Entry
from identity.encryption import keyring
from oidc.applications import services as applications
from oidc.applications.models import Application
from tests.support import wire
from tests.support.refusals import refusal

ENDPOINTS = ["/oidc/token", "/oidc/revoke"]
UNKNOWN = "0123456789abcdef01234567"


def basic(client_id: str, secret: str) -> dict[str, str]:
    text = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
    return {"Authorization": f"Basic {text}"}


def present(world, endpoint: str, *, headers=None, **form: str):
    """Ask for something that any proven client is given."""
    asked = {"grant_type": "client_credentials"} if endpoint == "/oidc/token" else {"token": "x"}
    return world.post(endpoint, data=asked | form, headers=headers or {})


@pytest.fixture
def machine(acme):
    return acme.application("MachineToMachine")


@pytest.mark.parametrize("endpoint", ENDPOINTS)
class TestConfidential:
    def test_is_known_by_basic(self, acme, machine, endpoint):
        answer = present(acme, endpoint, headers=basic(machine.client_id, machine.secret))

        assert answer.status_code == 200

    def test_is_known_by_the_body(self, acme, machine, endpoint):
        answer = present(acme, endpoint, client_id=machine.client_id, client_secret=machine.secret)

        assert answer.status_code == 200

    def test_is_not_known_by_the_address(self, acme, machine, endpoint):
        """RFC 6749 section 2.3.1: credentials stand in logs that way, so they count for nothing."""
        secret = f"client_id={machine.client_id}&client_secret={machine.secret}"

        answer = present(acme, f"{endpoint}?{secret}")
        beside = acme.post(
            f"{endpoint}?{secret}", data={"token": "x", "client_id": machine.client_id}, timeout=30
        )

        assert refusal(answer)[1] in {"invalid_client", "invalid_request"}
        assert refusal(beside)[1] in {"invalid_client", "invalid_request"}

    @pytest.mark.parametrize("scheme", ["basic", "BASIC", "Basic "])
    def test_may_spell_the_scheme_as_it_likes(self, acme, machine, endpoint, scheme):
        text = basic(machine.client_id, machine.secret)["Authorization"].removeprefix("Basic ")

        answer = present(acme, endpoint, headers={"Authorization": f"{scheme} {text}"})

        assert answer.status_code == 200

    def test_may_name_itself_in_the_body_too(self, acme, machine, endpoint):
        headers = basic(machine.client_id, machine.secret)

        answer = present(acme, endpoint, headers=headers, client_id=machine.client_id)

        assert answer.status_code == 200

    @pytest.mark.parametrize("type", ["Traditional", "MachineToMachine"])
    def test_case_C04_is_refused_without_its_secret(self, acme, endpoint, type):  # noqa: A002
        client = acme.application(type)

        answers = [
            present(acme, endpoint, client_id=client.client_id),
            present(acme, endpoint, client_id=client.client_id, client_secret=""),
            present(acme, endpoint, headers=basic(client.client_id, "")),
        ]

        assert [refusal(answer) for answer in answers] == [(401, "invalid_client")] * 3

    @pytest.mark.parametrize(
        "wrong", ["wrong", " ", "\u00e9", "x" * 3_000, "%00", "{}", "' OR ''='", "\U0001f600"]
    )
    def test_case_C03_is_refused_with_a_wrong_secret(self, acme, machine, endpoint, wrong):
        in_header = present(acme, endpoint, headers=basic(machine.client_id, quote(wrong)))
        in_body = present(acme, endpoint, client_id=machine.client_id, client_secret=wrong)

        assert refusal(in_header) == refusal(in_body) == (401, "invalid_client")

    def test_a_secret_must_be_right_to_the_last_letter(self, acme, machine, endpoint):
        almost = [machine.secret[:-1], machine.secret + "x", machine.secret.swapcase(), f" {machine.secret}"]

        answers = [
            present(acme, endpoint, client_id=machine.client_id, client_secret=secret) for secret in almost
        ]

        assert [refusal(answer) for answer in answers] == [(401, "invalid_client")] * len(almost)

    def test_case_C03_a_wrong_secret_and_an_unknown_client_get_the_same_answer(self, acme, machine, endpoint):
        wrong = present(acme, endpoint, headers=basic(machine.client_id, "wrong"))
        unknown = present(acme, endpoint, headers=basic(UNKNOWN, "wrong"))
        nobody = present(acme, endpoint, headers=basic("", ""))

        assert refusal(wrong) == (401, "invalid_client")
        assert wrong.content == unknown.content == nobody.content
        assert wrong.headers["WWW-Authenticate"] == unknown.headers["WWW-Authenticate"]

    def test_case_C03_is_challenged_only_where_it_came_with_a_header(self, acme, machine, endpoint):
        with_header = present(acme, endpoint, headers=basic(machine.client_id, "wrong"))
        without = present(acme, endpoint, client_id=machine.client_id, client_secret="wrong")

        assert with_header.headers["WWW-Authenticate"].startswith('Basic realm="')
        assert "WWW-Authenticate" not in without.headers

    def test_of_another_tenant_is_unknown(self, acme, rival, machine, endpoint):
        answer = present(rival, endpoint, headers=basic(machine.client_id, machine.secret))

        assert refusal(answer) == (401, "invalid_client")

    def test_case_C14_that_was_deleted_is_unknown(self, acme, machine, endpoint):
        with acme.active():
            applications.remove(machine.application)

        answers = [
            present(acme, endpoint, headers=basic(machine.client_id, machine.secret)) for _ in range(6)
        ]

        assert [refusal(answer) for answer in answers] == [(401, "invalid_client")] * 6

    def test_case_C14_a_new_secret_replaces_the_old_one_at_once(self, acme, machine, endpoint):
        present(acme, endpoint, headers=basic(machine.client_id, machine.secret))
        with acme.active():
            renewed = applications.rotate_secret(machine.application, is_proven=True)

        # Several times, so that more than one worker is asked.
        old = [present(acme, endpoint, headers=basic(machine.client_id, machine.secret)) for _ in range(6)]
        new = [present(acme, endpoint, headers=basic(machine.client_id, renewed)) for _ in range(6)]

        assert [refusal(answer) for answer in old] == [(401, "invalid_client")] * 6
        assert [answer.status_code for answer in new] == [200] * 6


@pytest.mark.parametrize("endpoint", ENDPOINTS)
class TestTwoMethodsAtOnce:
    @pytest.mark.parametrize("body_secret", ["right", "wrong"])
    @pytest.mark.parametrize("header_secret", ["right", "wrong"])
    def test_case_C01_are_refused_whether_right_or_wrong(
        self, acme, machine, endpoint, header_secret, body_secret
    ):
        secrets = {"right": machine.secret, "wrong": "wrong"}

        answer = present(
            acme,
            endpoint,
            headers=basic(machine.client_id, secrets[header_secret]),
            client_id=machine.client_id,
            client_secret=secrets[body_secret],
        )

        assert refusal(answer) == (400, "invalid_request")

    def test_case_C02_never_mix_two_clients(self, acme, machine, endpoint):
        other = acme.application("MachineToMachine", name="Other")
        headers = basic(machine.client_id, machine.secret)

        answers = [
            present(acme, endpoint, headers=headers, client_id=other.client_id),
            present(acme, endpoint, headers=headers, client_id=UNKNOWN),
            present(acme, endpoint, headers=headers, client_id=other.client_id, client_secret=other.secret),
        ]

        assert [refusal(answer)[1] for answer in answers] == [
            *("invalid_client", "invalid_client", "invalid_request"),
        ]

    def test_case_C07_two_authorization_headers_are_no_credentials(self, acme, machine, endpoint):
        other = acme.application("MachineToMachine", name="Other")
        lines = [
            f"Authorization: {basic(client.client_id, client.secret)['Authorization']}"
            for client in (machine, other)
        ]

        answer = wire.send(
            acme.address,
            "POST",
            endpoint.encode(),
            "Content-Type: application/x-www-form-urlencoded",
            *lines,
            body=b"grant_type=client_credentials&token=x",
        )

        assert answer.status in {400, 401}
        assert b"access_token" not in answer.body


@pytest.mark.parametrize("endpoint", ENDPOINTS)
class TestMalformedHeader:
    @pytest.mark.parametrize(
        "value",
        [
            "Basic",
            "Basic =",
            "Basic ====",
            "Basic !!!!",
            "Basic YQ",
            "Basic YWJj",
            "Basic " + base64.b64encode(b"no colon").decode(),
            "Basic " + base64.b64encode(b"\xff\xfe:\xff").decode(),
            "Basic " + base64.b64encode(b"\0:\0").decode(),
            "Basic " + base64.b64encode(b"%00:%00").decode(),
            "Basic " + base64.b64encode(b"%ff%fe:%ff").decode(),
            "Basic " + base64.b64encode(b"%:%%zz").decode(),
            "Basic " + base64.b64encode(b":" * 100).decode(),
            "Basic " + "YTph" * 1_500,
            "Basic YTpi YTpi",
            "Basic YTpi,Basic YTpi",
            "Basic\tYTpi",
            "Bearer eyJhbGciOiJub25lIn0.e30.",
            "Digest username=a",
            "Negotiate",
            "garbage",
            ":",
            "",
        ],
    )
    def test_case_C07_is_invalid_client_and_never_a_failure(self, acme, endpoint, value):
        answer = present(acme, endpoint, headers={"Authorization": value})

        assert refusal(answer) == (401, "invalid_client")
        assert answer.headers["WWW-Authenticate"].startswith("Basic ")

    @pytest.mark.parametrize("scheme", ["Bearer ", "Digest ", "Basic" + " " * 4_096])
    def test_case_C07_proves_nothing_with_the_right_secret(self, acme, endpoint, scheme):
        machine = acme.application("MachineToMachine")
        credentials = base64.b64encode(":".join(machine.basic).encode()).decode()

        answer = present(acme, endpoint, headers={"Authorization": f"{scheme}{credentials}"})

        assert refusal(answer) == (401, "invalid_client")

    @pytest.mark.parametrize(
        "raw",
        [
            b"Basic \xff\xfe",
            b"Basic \xc3\xa9:x",
            b"B\xc3\xa4sic YTpi",
            b"\xff",
            b"Basic YTpi\xa0",
            b"Basic \x85",
        ],
    )
    def test_case_C07_of_bytes_beyond_ascii_is_no_failure(self, acme, endpoint, raw):
        answer = present(acme, endpoint, headers={b"Authorization": raw})

        assert refusal(answer) == (401, "invalid_client")

    def test_case_C07_of_100_kb_is_refused_by_somebody(self, acme, endpoint):
        answer = present(acme, endpoint, headers={"Authorization": "Basic " + "YTph" * 25_000})

        assert 400 <= answer.status_code < 500

    def test_does_not_make_a_public_client_of_the_body(self, acme, endpoint):
        client = acme.application("SPA")

        answer = present(acme, endpoint, headers={"Authorization": "Basic !"}, client_id=client.client_id)

        assert refusal(answer) == (401, "invalid_client")


class TestEncoding:
    SECRETS = ["a:b", "100%", "a+b c", "p\u00e4ss", "%41", "::", "\U0001f511", 'q"\\', "&=?#"]

    @pytest.mark.parametrize("secret", SECRETS)
    def test_case_C06_basic_is_form_urlencoded_inside(self, acme, machine, secret):
        with acme.active():
            Application.objects.filter(pk=machine.application.pk).update(
                secret_digest=keyring.digest(secret, purpose="client secrets")
            )

        in_header = present(acme, "/oidc/token", headers=basic(machine.client_id, quote_plus(secret)))
        in_body = present(acme, "/oidc/token", client_id=machine.client_id, client_secret=secret)

        assert in_header.status_code == 200
        assert in_body.status_code == 200

    def test_case_C06_our_own_secrets_need_no_encoding(self, machine):
        assert quote_plus(machine.secret) == machine.secret
        assert quote_plus(machine.client_id) == machine.client_id


@pytest.mark.parametrize("type", ["SPA", "Native"])
class TestPublic:
    def test_decision_O6_may_leave_its_secret_out(self, acme, type):  # noqa: A002
        client = acme.application(type)

        answer = present(acme, "/oidc/revoke", client_id=client.client_id)

        assert answer.status_code == 200

    def test_decision_O6_may_present_it(self, acme, type):  # noqa: A002
        client = acme.application(type)

        in_body = present(acme, "/oidc/revoke", client_id=client.client_id, client_secret=client.secret)
        in_header = present(acme, "/oidc/revoke", headers=basic(client.client_id, client.secret))

        assert in_body.status_code == in_header.status_code == 200

    @pytest.mark.parametrize("endpoint", ENDPOINTS)
    def test_case_C05_is_refused_with_a_wrong_one(self, acme, endpoint, type):  # noqa: A002
        client, other = acme.application(type), acme.application(type, name="Other")

        answers = [
            present(acme, endpoint, client_id=client.client_id, client_secret="wrong"),
            present(acme, endpoint, client_id=client.client_id, client_secret=other.secret),
            present(acme, endpoint, client_id=client.client_id, client_secret=" "),
            present(acme, endpoint, headers=basic(client.client_id, "wrong")),
        ]

        assert [refusal(answer) for answer in answers] == [(401, "invalid_client")] * 4

    def test_case_C05_is_no_machine_for_having_a_secret(self, acme, type):  # noqa: A002
        client = acme.application(type)

        answer = present(acme, "/oidc/token", headers=basic(client.client_id, client.secret))

        assert refusal(answer) == (400, "unauthorized_client")

    @pytest.mark.parametrize("guess", ["", UNKNOWN, "\u00e9", "x" * 10_000, "a\tb", "\u202e"])
    def test_must_say_who_it_is(self, acme, type, guess):  # noqa: A002
        acme.application(type)

        answers = [present(acme, endpoint, client_id=guess) for endpoint in ENDPOINTS]

        assert [refusal(answer) for answer in answers] == [(401, "invalid_client")] * 2


class TestSecret:
    @pytest.mark.parametrize("type", ["Traditional", "SPA", "Native", "MachineToMachine"])
    def test_decision_O6_every_application_gets_one_of_256_bits_of_its_own(self, acme, type):  # noqa: A002
        secrets = {acme.application(type).secret for _ in range(5)}

        assert len(secrets) == 5
        assert all(len(base64.urlsafe_b64decode(secret + "=")) == 32 for secret in secrets)

    def test_decision_O6_case_K07_the_database_holds_only_a_keyed_hash(self, acme, machine):
        with acme.active():
            [stored] = Application.objects.filter(pk=machine.application.pk).values()

        answer = present(
            acme, "/oidc/token", client_id=machine.client_id, client_secret=stored["secret_digest"]
        )

        assert machine.secret not in str(stored)
        assert refusal(answer) == (401, "invalid_client")

    @pytest.mark.parametrize("secret", ["right", "wrong", "shorter"])
    def test_case_C19_is_compared_in_constant_time(self, acme, machine, secret):
        sent = {"right": machine.secret, "wrong": "x" * 43, "shorter": machine.secret[:5]}[secret]
        with mock.patch("identity.encryption.keyring.hmac", wraps=hmac) as spy:
            answer = Client().post(
                f"/t/{acme.tenant.slug}/oidc/token",
                f"grant_type=client_credentials&client_id={machine.client_id}&client_secret={sent}",
                content_type="application/x-www-form-urlencoded",
            )

        assert answer.status_code == (200 if secret == "right" else 401)
        [compared] = spy.compare_digest.call_args_list
        # Digests, so that neither the length nor the beginning of a secret can be measured.
        assert {len(side) for side in compared.args} == {64}
        assert sent not in compared.args

    def test_decision_A1_a_refusal_is_audited_without_what_was_tried(self, acme, machine):
        present(acme, "/oidc/token", client_id=machine.client_id, client_secret="hunter2-hunter2")
        present(acme, "/oidc/revoke", client_id=machine.client_id, client_secret="hunter2-hunter2")

        entries = Entry.objects.filter(tenant_id=acme.tenant.pk, payload__error="invalid_client")
        assert {entry.key for entry in entries} == {"Token.Exchange", "Token.Revoke"}
        for entry in entries:
            assert entry.payload["client_id"] == machine.client_id
            assert "hunter2" not in str(entry.payload)
