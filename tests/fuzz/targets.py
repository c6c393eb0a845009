"""What is fuzzed: each target takes any bytes and raises AssertionError when an answer cannot be right.

Refusals are answers. Everything else that is raised is a finding, too.
"""

import base64
import json
import re
from collections.abc import Callable
from io import BytesIO
from typing import Any, Final
from urllib.parse import quote_plus, unquote_plus, urlencode

import orjson
import phonenumbers
from django.test import override_settings
from fido2.webauthn import AttestationObject
from rest_framework.exceptions import APIException

from identity.core.errors import Invalid
from identity.factors import credential_json, webauthn
from identity.factors.passkey_refusals import PasskeyRefused
from identity.users import identifiers
from management.api.parsers import StrictJSONParser
from oidc.applications import redirect_uris
from oidc.applications.models import Application
from oidc.keys import jws
from oidc.provider import client_authentication, parameters
from oidc.provider.errors import InvalidClient

REGISTERED: Final = [
    "https://rp.example/callback",
    "https://rp.example/callback?tenant=1",
    "http://127.0.0.1/callback",
    "http://[::1]:8080/callback",
    "com.example.app:/callback",
]
_LOOPBACK: Final = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]))(?::[0-9]*)?(/.*)?", re.DOTALL)


def redirect_uri(data: bytes) -> None:
    """A URI that matches is a registered one to the byte, but for the port of a loopback address."""
    uri = data.decode("utf-8", "replace")
    native, web = Application.Type.NATIVE, Application.Type.TRADITIONAL
    assert redirect_uris.matches(uri, REGISTERED, web) is (uri in REGISTERED)
    if redirect_uris.matches(uri, REGISTERED, native) and uri not in REGISTERED:
        sent = _LOOPBACK.fullmatch(uri)
        known = [_LOOPBACK.fullmatch(one) for one in REGISTERED]
        assert sent is not None
        assert sent.groups() in [one.groups() for one in known if one]
    try:
        accepted = redirect_uris.validate(uri, native)
    except Invalid:
        return
    authority = re.match(r"[^:]*://([^/?]*)", accepted)
    assert accepted == uri
    assert uri.isascii()
    assert not set("#\\ \t\r\n\0") & set(uri)
    assert authority is None or "@" not in authority[1]
    assert redirect_uris.matches(uri, [uri], web)


def basic_header(data: bytes) -> None:
    """What Basic decodes comes back when it is encoded and decoded again."""
    for header in (data.decode("latin-1"), _basic(data)):
        try:
            found = client_authentication.read_credentials(header, {})
        except InvalidClient:
            continue
        pair = f"{quote_plus(found.client_id)}:{quote_plus(found.secret)}"
        again = client_authentication.read_credentials(_basic(pair.encode()), {})
        assert (again.client_id, again.secret) == (found.client_id, found.secret)
    client_id, colon, secret = data.partition(b":")
    if colon and data.isascii():
        found = client_authentication.read_credentials(_basic(data), {})
        expected = unquote_plus(client_id.decode()), unquote_plus(secret.decode())
        assert (found.client_id, found.secret) == expected


def _basic(data: bytes) -> str:
    return "Basic " + base64.b64encode(data).decode()


def form(data: bytes) -> None:
    """A form that is taken says the same when it is encoded and decoded again."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return  # ``form_text`` refuses it
    try:
        sent = parameters.decode(text)
    except parameters.InvalidParameters as refusal:
        _check_refusal(refusal.status, refusal.description)
        return
    assert sent.repeated <= sent.values.keys()
    assert not any("\0" in text for pair in sent.values.items() for text in pair)
    try:
        encoded = urlencode(sent.values)
    except UnicodeEncodeError:
        raise AssertionError("a lone surrogate came through") from None
    assert parameters.decode(encoded).values == sent.values


def json_body(data: bytes) -> None:
    """A body that is taken means the same to another parser, names nothing twice and can be kept."""
    try:
        document = StrictJSONParser().parse(BytesIO(data))
    except APIException as refusal:
        _check_refusal(refusal.status_code, str(refusal.detail))
        return
    assert isinstance(document, dict)
    assert _numbers_alike(json.loads(data)) == _numbers_alike(document)
    text = json.dumps(document, ensure_ascii=False)
    text.encode()
    assert "\\u0000" not in text.replace("\\\\", "")  # a NUL, and not a backslash before u0000
    assert StrictJSONParser().parse(BytesIO(text.encode())) == document


def _check_refusal(status: int, words: str) -> None:
    assert status in {400, 413}
    assert "\n" not in words


def _numbers_alike(value: Any) -> Any:
    """Numbers beyond 64 bits are floats to one parser and whole to another."""
    if isinstance(value, dict):
        return {name: _numbers_alike(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_numbers_alike(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def jwt_header(data: bytes) -> None:
    """A parsed token names an algorithm, a key and a type, and says what another parser reads."""
    for token in (f"{jws.encode(data)}.{jws.encode(b'{}')}.{jws.encode(bytes(64))}", data.decode("latin-1")):
        try:
            parsed = jws.parse(token)
        except jws.InvalidToken:
            continue
        first, second, third = token.split(".")
        header = json.loads(jws.decode(first))
        assert (header["alg"], header["kid"], header["typ"]) == (parsed.alg, parsed.kid, parsed.typ)
        assert parsed.alg in {"ES256", "RS256", "PS256", "EdDSA"}
        assert "crit" not in header
        assert parsed.claims == json.loads(jws.decode(second))
        assert jws.encode(parsed.signature) == third
        assert parsed.signing_input == f"{first}.{second}".encode()


def phone(data: bytes) -> None:
    """A phone's canonical form is its own canonical form, and both are the same person."""
    text = data.decode("utf-8", "replace")
    for region in ("", "DE", "US"):
        with override_settings(PHONE_DEFAULT_REGION=region):
            try:
                stored = identifiers.clean_phone(text)
            except Invalid:
                continue
            assert stored.isascii()
            assert stored.removeprefix("+").isdigit()
            assert identifiers.clean_phone(stored) == stored
            assert identifiers.detect_kind(text) is identifiers.Kind.PHONE
            assert identifiers.parse(text) == identifiers.parse(stored)
            assert identifiers.parse_phone(text) == identifiers.phone_key(stored)
            if not region:
                assert stored.removeprefix("+") == phonenumbers.normalize_digits_only(stored)


def email(data: bytes) -> None:
    """An address that is taken stays as it is, and its key is its own key and fits its column."""
    text = data.decode("utf-8", "replace")
    key = identifiers.fold(text)
    assert identifiers.fold(text.upper().lower()) == identifiers.fold(text.lower()) or not text.isascii()
    try:
        stored = identifiers.clean_email(text)
    except Invalid:
        return
    assert stored == text
    assert "@" in text
    assert text.isprintable()
    assert identifiers.parse(text) == (identifiers.Kind.EMAIL, key)
    assert identifiers.fold(key) == key
    assert len(key) <= 512
    assert not set("\r\n\0") & set(text)


def credential(data: bytes) -> None:
    """A credential that is taken has the bytes that its members spell, and one spelling only."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return
    for read in (credential_json.read_registration, credential_json.read_assertion):
        try:
            taken = read(document)
        except PasskeyRefused:
            continue
        sent = document["response"]["clientDataJSON"]
        assert document["type"] == "public-key"
        assert credential_json.encode(credential_json.decode(taken.id)) == taken.id == document["id"]
        assert credential_json.encode(taken.client_data.raw) == sent
        assert json.loads(taken.client_data.raw)["origin"] == taken.client_data.origin
        assert len(orjson.dumps(document)) <= credential_json.MAX_BYTES


def attestation(data: bytes) -> None:
    """Bytes of an authenticator that are taken say the same to the library."""
    try:
        kind, raw = webauthn.read_attestation_object(data)
        taken = webauthn.read_authenticator_data(raw)
        if taken.credential is None:
            return
        algorithm = webauthn.check_public_key(taken.credential.public_key)
    except PasskeyRefused:
        return
    read = AttestationObject(data)
    assert (read.fmt, bytes(read.auth_data)) == (kind, raw)
    assert (read.auth_data.rp_id_hash, read.auth_data.counter) == (taken.rp_id_hash, taken.counter)
    assert read.auth_data.credential_data is not None
    assert read.auth_data.credential_data.credential_id == taken.credential.id
    assert read.auth_data.credential_data.public_key[3] == algorithm
    try:
        webauthn.verify_signature(taken.credential.public_key, b"message", b"signature")
    except PasskeyRefused:
        return
    raise AssertionError("a signature by nobody fits")


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "redirect_uris": redirect_uri,
    "basic_header": basic_header,
    "form": form,
    "json_body": json_body,
    "jwt_header": jwt_header,
    "phone": phone,
    "email": email,
    "credential": credential,
    "attestation": attestation,
}
