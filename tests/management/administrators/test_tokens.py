"""Which administrator tokens are refused: forged, altered, expired, or of another kind."""

import base64
import json
import secrets
import time

import httpx
import pytest
from django.conf import settings as configured

from identity.encryption import keyring
from management.administrators import services as administrators
from management.administrators import tokens
from management.administrators.models import Administrator
from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support import second
from tests.support.administrator_tokens import ME, changed, forged, is_unknown, key_of, me, sealed, sign_in
from tests.support.cast import PASSWORD
from tests.support.forgery import altered
from tests.support.independent import bearer, claims_of, header_of


class TestTokens:
    """What is not a token of an administrator."""

    @pytest.mark.parametrize("elapsed", [86_400, 86_401, 10**9])
    def test_expires(self, token, elapsed):
        claims = claims_of(token)

        old = changed(token, claims={"iat": claims["iat"] - elapsed, "exp": claims["exp"] - elapsed})

        is_unknown(me(old))

    def test_is_good_until_it_expires(self, token):
        almost = changed(token, claims={"exp": int(time.time()) + 30})

        assert me(almost).status_code == 200

    @pytest.mark.parametrize("seconds", [60, 120])
    def test_the_lifetime_is_a_setting(self, administrator, settings, seconds):
        settings.ADMINISTRATOR_TOKEN_SECONDS = seconds

        claims = claims_of(tokens.issue(administrator))

        assert claims["exp"] - claims["iat"] == seconds

    @pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "nOnE", "", 1, ["HS256"], {}])
    def test_case_F02_unsigned(self, token, algorithm):
        text = altered(token, "header", alg=algorithm)

        is_unknown(me(text))
        is_unknown(me(text.rpartition(".")[0] + "."))

    def test_case_F02_without_an_algorithm(self, token):
        is_unknown(me(changed(token, header={"alg": None})))

    @pytest.mark.parametrize("algorithm", ["HS384", "HS512"])
    @pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
    def test_case_F03_of_another_algorithm_under_the_right_secret(self, token, algorithm):
        is_unknown(me(forged(token, key_of(), algorithm)))

    def test_case_F03_as_es256_with_the_key_of_the_tenant(self, acme, token):
        with acme.active():
            key_id = SigningKey.objects.get().pk
            key = signing._private_key(acme.tenant.pk, key_id).key
            ours = signing.sign(claims_of(token), typ="admin+jwt", key_id=key_id)

        for text in (ours, forged(token, key, "ES256"), altered(token, "header", alg="ES256")):
            is_unknown(me(text, acme.address))

    def test_case_F01_with_the_public_key_as_the_secret(self, acme, token):
        published = acme.get("/.well-known/jwks.json").json()["keys"][0]

        for secret in (published["x"], json.dumps(published), published["x"] + published["y"]):
            claims = json.dumps(claims_of(token)).encode()
            is_unknown(me(sealed(header_of(token), claims, secret), acme.address))

    @pytest.mark.parametrize("secret", ["", "secret", "x" * 64, "0" * 64])
    @pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
    def test_with_a_guessed_secret(self, token, secret):
        is_unknown(me(forged(token, secret or "\0" * 32)))

    def test_with_the_installation_key_itself(self, token):
        key = next(iter(configured.ENCRYPTION_KEYS.values()))

        is_unknown(me(forged(token, key)))
        is_unknown(me(forged(token, key.hex())))

    @pytest.mark.parametrize("purpose", ["refresh tokens", "client secrets", "signing keys"])
    def test_with_a_key_of_another_purpose(self, token, purpose):
        is_unknown(me(forged(token, keyring.subkey(purpose, keyring.current_id()).hex())))

    @pytest.mark.parametrize("typ", ["JWT", "at+jwt", "", "ADMIN+JWT", None, ["admin+jwt"]], ids=repr)
    def test_case_F06_of_another_type(self, token, typ):
        is_unknown(me(changed(token, header={"typ": typ})))

    @pytest.mark.parametrize(
        "kid", [None, "", "00000000", "../../dev/null", "' OR 1=1", "x" * 1_000, 1, ["a"], {"a": 1}], ids=str
    )
    def test_case_F04_of_another_or_no_key(self, token, kid):
        is_unknown(me(changed(token, header={"kid": kid})))

    def test_case_F06_with_a_critical_extension(self, token):
        is_unknown(me(changed(token, header={"crit": ["x"], "x": 1})))
        is_unknown(me(changed(token, header={"crit": ["b64"], "b64": False})))
        is_unknown(me(changed(token, header={"crit": []})))

    @pytest.mark.parametrize(
        "claims",
        [
            *({"iss": "https://elsewhere.example"}, {"iss": None}, {"exp": None}, {"exp": "9999999999"}),
            *({"exp": []}, {"sub": None}, {"sub": "999999999"}, {"sub": "-1"}, {"sub": "x"}, {"sub": []}),
            *({"sub": "1 OR 1=1"}, {"sub": "9" * 30}, {"pwd": None}, {"pwd": ""}, {"pwd": "0" * 16}),
        ],
        ids=str,
    )
    def test_claims_we_would_not_write_are_refused_even_under_our_secret(self, token, claims):
        is_unknown(me(changed(token, claims=claims)))

    @pytest.mark.parametrize("payload", [b"null", b"[]", b'"x"', b"1", b"{", b"\xff", b""], ids=repr)
    def test_a_payload_that_is_no_object_is_refused_even_under_our_secret(self, token, payload):
        is_unknown(me(sealed(header_of(token), payload)))

    @pytest.mark.parametrize("header", [None, [], "x", 1, True], ids=repr)
    def test_a_header_that_is_no_object_is_refused(self, token, header):
        is_unknown(me(sealed(header, b"{}")))

    def test_case_F22_shortened_lengthened_or_respelt(self, token):
        head, payload, signature = token.split(".")
        for text in (
            *(token[:-1], token + ".x", token + ".", f".{payload}.{signature}", f"{head}..{signature}"),
            *(f"{head}.{payload}.", f"{head}.{payload}", token.upper(), "." * 5, "a.b.c", ".."),
            *("e30.e30.", "bnVsbA.bnVsbA.bnVsbA", "W10.W10.W10", "x" * 8_000),
        ):
            is_unknown(me(text))

    @pytest.mark.parametrize("position", range(0, 300, 23))
    def test_one_altered_character_is_noticed(self, token, position):
        index = position % (len(token) - 1)
        altered = token[:index] + ("A" if token[index] != "A" else "B") + token[index + 1 :]

        is_unknown(me(altered))

    @pytest.mark.parametrize("raw", ["\u00e9.\u00e9.\u00e9", "\xff\xfe", "a.\u00ff.c"])
    def test_bytes_that_are_no_ascii_are_refused(self, address, raw):
        header = {"Authorization": b"Bearer " + raw.encode("latin-1")}

        is_unknown(httpx.get(f"{address}{ME}", headers=header))

    def test_case_F08_an_encrypted_token_is_refused_unread(self, token):
        is_unknown(me("eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..aaaa.bbbb.cccc"))


class TestOtherKinds:
    """Tokens of one world are worth nothing in the other."""

    def test_case_F10_tokens_of_people_and_machines_are_no_administrators(self, acme):
        client, machine = acme.application(), acme.application("MachineToMachine")
        issued = client.tokens_for(acme.user())
        theirs = machine.token(grant_type="client_credentials").json()["access_token"]

        for text in (issued["id_token"], issued["refresh_token"]):
            is_unknown(me(text, acme.address))
        for text in (issued["access_token"], theirs):
            # Good tokens of this tenant, but of nobody who manages it; nothing at all elsewhere.
            assert me(text, acme.address).status_code == 403
            is_unknown(me(text))

    def test_case_F10_an_administrators_token_opens_nothing_at_userinfo(self, acme, token):
        answer = acme.get("/oidc/userinfo", headers=bearer(token))

        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]

    def test_an_administrators_token_is_no_hint_no_code_and_no_refresh_token(self, acme, token):
        client, browser = acme.application(), acme.browser()
        browser.sign_in(acme.user())

        ended = browser.get("/oidc/end-session", params={"id_token_hint": token})
        redeemed, refreshed = client.redeem(token), client.refresh(token)

        assert ended.status_code == 400
        assert redeemed.json()["error"] == refreshed.json()["error"] == "invalid_grant"

    def test_revoking_one_is_200_and_does_nothing(self, acme, token):
        client = acme.application()

        answer = acme.post("/oidc/revoke", data={"token": token}, auth=client.basic)

        assert answer.status_code == 200
        assert me(token).status_code == 200

    def test_of_another_installation_is_unknown(self, administrator):
        ring = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
        with second.running(ENCRYPTION_KEYS=ring) as elsewhere:
            answer = sign_in(elsewhere, username=administrator.username, password=PASSWORD)
            theirs = answer.json()["result"]["access_token"]

            assert me(theirs, elsewhere).status_code == 200
            is_unknown(me(theirs))


@pytest.mark.parametrize("pk", [2**31, 2**40, 2**62])
def test_an_id_of_more_than_32_bits_is_as_good_as_any(acme, pk):
    made = administrators.create(username=f"far-{secrets.token_hex(4)}", password=PASSWORD, is_superuser=True)
    Administrator.objects.filter(pk=made.pk).update(id=pk)
    try:
        token = tokens.issue(Administrator.objects.get(pk=pk))
        with acme.active():
            assert tokens.get_administrator(token).pk == pk
    finally:
        Administrator.objects.filter(pk=pk).delete()
