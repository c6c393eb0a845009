"""Which redirect URIs may be registered, and which text of a request is one of them."""

import string
import time
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import assume, example, given
from hypothesis import settings as fuzzing
from hypothesis import strategies as st

from identity.core.errors import Invalid
from oidc.applications import redirect_uris
from oidc.applications import services as applications
from oidc.applications.models import Application

TYPES = ["Traditional", "SPA", "Native"]
REGISTERED = [
    "https://rp.example/callback",
    "https://rp.example/callback?tenant=7&next=%2Fhome",
    "https://rp.example:8443/",
    "https://rp.example",
    "http://localhost:3000/cb",
    "http://localhost/cb",
    "http://127.0.0.1/cb",
    "http://127.0.0.1:8080/cb?a=1",
    "http://127.0.0.1",
    "http://[::1]/cb",
    "http://[::1]:9000/",
    "com.example.app:/cb",
    "com.example.app://cb",
]
LOOPBACK = ("http://127.0.0.1", "http://[::1]")
HOSTILE = st.sampled_from(
    [
        *"/\\?#@:;.,%*&=+ \t\r\n\0",
        "%2f",
        "%00",
        "//",
        "..",
        "/../",
        ".evil.example",
        "@evil.example",
        ":80",
        ":443",
        *"\u3002\uff0f\u200d\u202e",
        "https://evil.example/",
        "javascript:",
    ]
)


def without_port(uri: str) -> str | None:
    """Return a loopback address without its port, or None for any other address."""
    for host in LOOPBACK:
        if not uri.startswith(host):
            continue
        rest = uri[len(host) :]
        if rest.startswith(":"):
            digits = rest[1:].partition("/")[0].partition("?")[0]
            if not 1 <= len(digits) <= 5 or any(digit not in string.digits for digit in digits):
                return None
            if not 1 <= int(digits) <= 65_535:
                return None
            rest = rest[1 + len(digits) :]
        return host + rest if rest[:1] in {"", "/", "?"} else None
    return None


@st.composite
def bent(draw: st.DrawFn) -> str:
    """A registered URI, bent here and there."""
    uri = draw(st.sampled_from(REGISTERED))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(uri)))
        match draw(st.sampled_from(["insert", "delete", "swap case", "encode", "double", "port"])):
            case "insert":
                uri = uri[:place] + draw(HOSTILE | st.characters()) + uri[place:]
            case "delete":
                uri = uri[:place] + uri[place + 1 :]
            case "swap case":
                uri = uri[:place].swapcase() + uri[place:]
            case "encode":
                letter = uri[place : place + 1]
                uri = (
                    uri[:place]
                    + "".join(f"%{byte:02x}" for byte in letter.encode(errors="replace"))
                    + uri[place + 1 :]
                )
            case "double":
                uri = uri[:place] + uri
            case "port":
                host = draw(st.sampled_from(["127.0.0.1", "[::1]", "localhost", "rp.example"]))
                port = draw(
                    st.integers(0, 99_999).map(str) | st.sampled_from(["", "x", "-1", "٣", "+1", "000000"])
                )
                uri = uri.replace(host, f"{host}:{port}", 1)
    return uri


class TestMatching:
    @pytest.mark.parametrize(
        ("uri", "kind", "better"),
        [
            ("localhost:5050/callback", "Traditional", "http://localhost:5050/callback"),
            ("localhost:5050/callback", "Native", "http://localhost:5050/callback"),
            ("rp.example:8443?a=b", "SPA", "https://rp.example:8443?a=b"),
        ],
    )
    def test_says_what_to_write_if_the_scheme_is_missing(self, uri, kind, better):
        with pytest.raises(Invalid) as refused:
            redirect_uris.validate(uri, kind)

        assert str(refused.value) == f"redirect_uris: has no scheme: write {better}"
        assert redirect_uris.validate(better, kind) == better

    def test_a_private_scheme_may_be_followed_by_a_number(self):
        assert redirect_uris.validate("com.example:1", "Native") == "com.example:1"

    @given(uri=bent() | st.text(), kind=st.sampled_from(["Traditional", "SPA"]))
    @fuzzing(max_examples=500, deadline=None)
    def test_decision_O8_is_letter_by_letter(self, uri, kind):
        assert redirect_uris.matches(uri, REGISTERED, kind) == (uri in REGISTERED)

    @given(uri=bent())
    @fuzzing(max_examples=1000, deadline=None)
    @example(uri="http://127.0.0.1:51234/cb")
    @example(uri="http://[::1]:1")
    @example(uri="http://[::1]:1/")
    @example(uri="http://127.0.0.1:51234")
    @example(uri="http://127.0.0.1:51234/cb\n")
    @example(uri="http://127.0.0.1:51234/cb?a=1")
    @example(uri="http://127.0.0.1:0/cb")
    @example(uri="http://127.0.0.1:65535/cb")
    @example(uri="http://127.0.0.1:65536/cb")
    def test_decision_O8_lets_only_the_port_of_a_native_loopback_address_differ(self, uri):
        known = {without_port(registered) for registered in REGISTERED} - {None}

        matches = redirect_uris.matches(uri, REGISTERED, "Native")

        assert matches == (uri in REGISTERED or without_port(uri) in known)

    @given(uri=bent())
    @fuzzing(max_examples=300, deadline=None)
    def test_never_leads_to_another_host(self, uri):
        assume(redirect_uris.matches(uri, REGISTERED, "Native"))

        assert urlsplit(uri).hostname in {urlsplit(known).hostname for known in REGISTERED}
        assert urlsplit(uri).scheme in {"https", "http", "com.example.app"}

    def test_with_nothing_registered_is_never(self):
        for kind in TYPES:
            assert not redirect_uris.matches("", [], kind)
            assert not redirect_uris.matches("http://127.0.0.1:1/", [], kind)

    @pytest.mark.parametrize(
        "uri",
        ["http://127.0.0.1" + ":1" * 50_000, "http://127.0.0.1:1/" + "a" * 100_000, "http://[" * 50_000],
    )
    def test_case_L15_takes_no_time_for_long_ones(self, uri):
        began = time.process_time()

        redirect_uris.matches(uri, REGISTERED, "Native")

        assert time.process_time() - began < 0.2


class TestRegistration:
    @pytest.mark.parametrize("kind", TYPES)
    @pytest.mark.parametrize(
        "uri",
        [
            "https://rp.example/callback",
            "https://rp.example",
            "https://rp.example:8443/a/b;c/d?e=f&g=*",
            "https://xn--bcher-kva.example/cb",
            "https://192.0.2.7/cb",
            "https://[2001:db8::1]/cb",
            "http://localhost/cb",
            "http://localhost:3000/cb",
            "http://127.0.0.1:3000/cb",
            "http://127.8.9.10/cb",
            "http://[::1]:3000/cb",
            "https://rp.example/" + "a" * (2048 - len("https://rp.example/")),
        ],
    )
    def test_decision_O8_takes_https_and_loopback(self, kind, uri):
        assert redirect_uris.validate(uri, kind) == uri

    @pytest.mark.parametrize(
        "uri", ["com.example.app:/cb", "com.example.app://cb", "app.rp-1.example:/cb?x=1"]
    )
    def test_case_A08_takes_private_schemes_of_native_applications_only(self, uri):
        assert redirect_uris.validate(uri, "Native") == uri
        for kind in ("Traditional", "SPA"):
            with pytest.raises(Invalid, match="must be https"):
                redirect_uris.validate(uri, kind)

    @pytest.mark.parametrize("kind", TYPES)
    @pytest.mark.parametrize(
        "uri",
        [
            "",
            " ",
            "/callback",
            "//rp.example/callback",
            "callback",
            "rp.example/callback",
            "https:",
            "https:/callback",
            "https://",
            "https:///callback",
            "https://:443/callback",
            "https://rp.example:99999/callback",
            "https://rp.example:port/callback",
            "https://rp.example:0/callback",
            "https://rp.example:/callback",
            "https://rp.example:0443/callback",
            "https://[::1]a/callback",
            "https://rp.example/callback?code=1",
            "https://rp.example/callback?a=1;state=2",
            "com.example.app:/callback?iss=x",
            "com.example.app://user@rp.example/callback",
            "https://rp.example/callback#",
            "https://rp.example/callback#fragment",
            "https://user@rp.example/callback",
            "https://user:password@rp.example/callback",
            "https://@rp.example/callback",
            "https://rp%2eexample/callback",
            "https://rp.example;evil.example/callback",
            "https://rp.example,evil.example/callback",
            "https://rp.example'/callback",
            "https://*.rp.example/callback",
            "https://*/callback",
            "https://rp.example/*",
            "https://rp.example\\@evil.example/callback",
            "https://rp.example/call back",
            " https://rp.example/callback",
            "https://rp.example/callback\n",
            "https://rp.example/\tcallback",
            "https://rp.example/callback\0",
            "https://rp.example/cällback",
            "https://bücher.example/callback",
            "https://rp.example/\u202egnp",
            'https://rp.example/"onload="x',
            "https://rp.example/<script>",
            "https://rp.example/{x}",
            "https://[::1",
            "https://rp.example/" + "a" * (2049 - len("https://rp.example/")),
            "http://rp.example/callback",
            "http://127.0.0.1.evil.example/callback",
            "http://localhost.evil.example/callback",
            "http://evil-localhost/callback",
            "http://0.0.0.0/callback",
            "http://2130706433/callback",
            "http://127.1/callback",
            "http://10.0.0.1/callback",
            "http://localhost@evil.example/callback",
            "ftp://rp.example/callback",
            "ws://rp.example/callback",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "java\tscript:alert(1)",
            "javascript://rp.example/%0aalert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "vbscript:x",
            "about:blank",
            "blob:https://rp.example/x",
            "myapp:/cb",
            "mailto:a@rp.example",
            "urn:ietf:wg:oauth:2.0:oob",
            ".app:/cb",
            "app.:/cb",
            "1app.example:/cb",
            "*",
        ],
        ids=lambda uri: ascii(uri)[:50],
    )
    def test_case_A09_refuses_everything_else(self, kind, uri):
        with pytest.raises(Invalid, match=r"^redirect_uris: "):
            redirect_uris.validate(uri, kind)

    @given(uri=bent() | st.text(), kind=st.sampled_from(TYPES))
    @fuzzing(max_examples=700, deadline=None)
    def test_what_is_taken_is_plain_and_matches_itself(self, uri, kind):
        try:
            redirect_uris.validate(uri, kind)
        except Invalid:
            return

        assert uri.isascii()
        assert quote(uri, safe="-._~:/?#[]@!$&'()*+,;=%") == uri
        assert "#" not in uri
        assert len(uri) <= 2048
        assert urlsplit(uri).scheme in {"https", "http"} or kind == "Native"
        assert redirect_uris.matches(uri, [uri], kind)

    @pytest.mark.parametrize("uri", ["http://rp.example/cb", "http://192.168.1.5:3000/cb"])
    def test_decision_O8_takes_http_anywhere_in_development(self, settings, uri):
        settings.DEVELOPMENT = True

        assert redirect_uris.validate(uri, "SPA") == uri


class TestApplication:
    """The same rules where applications are registered and changed."""

    @pytest.mark.parametrize("field", ["redirect_uris", "post_logout_redirect_uris"])
    @pytest.mark.parametrize(
        "uri", ["javascript:alert(1)", "https://rp.example/#f", "https://*.example", "/cb"]
    )
    def test_case_A09_is_not_registered_with_a_bad_one(self, acme, field, uri):
        uris: dict[str, Any] = {"redirect_uris": ["https://rp.example/cb"], field: [uri]}

        with acme.active(), pytest.raises(Invalid, match=f"^{field}: "):
            applications.register(name="Bad", type="Traditional", **uris)

        with acme.active():
            assert not Application.objects.exists()

    @pytest.mark.parametrize("field", ["redirect_uris", "post_logout_redirect_uris"])
    def test_decision_O8_a_machine_has_none(self, acme, field):
        uris: dict[str, Any] = {field: ["https://rp.example/cb"]}

        with acme.active(), pytest.raises(Invalid, match=f"^{field}: "):
            applications.register(name="Machine", type="MachineToMachine", **uris)

    def test_is_not_changed_to_a_bad_one(self, acme):
        client = acme.application()

        with acme.active(), pytest.raises(Invalid):
            applications.change(
                client.application, {"redirect_uris": ["https://rp.example/#"]}, is_proven=True
            )

        with acme.active():
            assert Application.objects.get().redirect_uris == ["https://rp.example/callback"]

    @pytest.mark.parametrize(
        ("kind", "default"),
        [
            ("Traditional", ["authorization_code", "refresh_token"]),
            ("SPA", ["authorization_code", "refresh_token"]),
            ("Native", ["authorization_code", "refresh_token"]),
            ("MachineToMachine", ["client_credentials"]),
        ],
    )
    def test_decision_O8_gets_the_grants_of_its_type(self, acme, kind, default):
        assert acme.application(kind).application.grant_types == default

    @pytest.mark.parametrize(
        ("kind", "grants"),
        [
            ("Traditional", ["client_credentials"]),
            ("Traditional", ["authorization_code", "client_credentials"]),
            ("Traditional", ["refresh_token"]),
            ("SPA", []),
            ("SPA", ["implicit"]),
            ("Native", ["password"]),
            ("MachineToMachine", ["authorization_code"]),
            ("MachineToMachine", ["client_credentials", "refresh_token"]),
            ("MachineToMachine", []),
        ],
    )
    def test_decision_O8_gets_no_others(self, acme, kind, grants):
        with acme.active(), pytest.raises(Invalid, match=r"^grant_types: "):
            applications.register(name="Bad", type=kind, grant_types=grants)


class TestOrigin:
    @pytest.mark.parametrize(
        ("uri", "origin"),
        [
            ("https://rp.example/callback", "https://rp.example"),
            ("https://RP.example:443/callback", "https://rp.example"),
            ("https://rp.example:8443", "https://rp.example:8443"),
            ("http://localhost:80/", "http://localhost"),
            ("http://[::1]:3000/cb", "http://[::1]:3000"),
            ("com.example.app:/cb", None),
            ("com.example.app://rp.example/cb", None),
            ("/callback", None),
            ("https://[::1", None),
            ("https://rp.example:99999/", None),
            ("https://rp.example:0/", None),
            ("https://[::1]:0/", None),
            ("https://rp.example:/", None),
            ("https://user@rp.example/", None),
            ("https://evil.example\\@rp.example/", None),
            ("https://rp.example/a b", None),
            ("https://rp.example/\n", None),
            ("https://[v1.a:b]/", None),
            ("https://[::1]a/", None),
            ("https:///cb", None),
            ("", None),
        ],
    )
    def test_is_spelt_as_browsers_spell_it(self, uri, origin):
        assert redirect_uris.get_origin(uri) == origin
