"""The page's script for passkeys, in Chromium with a virtual authenticator.

The pages here are the least that the script needs. What answers it are the ceremonies themselves.
"""

import json
import threading
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings as configured
from playwright.sync_api import expect

from identity.core import tenancy
from identity.factors import ceremonies, ceremony_options, credential_json
from identity.factors.ceremonies import StoredPasskey
from identity.factors.ceremony_options import Account, Descriptor
from identity.factors.challenges import Binding, Ceremony
from identity.factors.passkey_refusals import PasskeyRefused
from tests.support.passkey_device import encode
from tests.support.virtual_authenticator import VirtualAuthenticator

SCRIPT = Path(configured.BASE_DIR) / "interaction/pages/static/gatehouse/passkeys.js"
POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; form-action 'self'"
WORDS = (
    'data-say-cancelled="Nothing happened. Try again." data-say-known="You have this passkey already." '
    'data-say-refused="This passkey was not accepted." data-say-failed="That did not work." '
    'data-say-policy="A policy forbids it." data-say-offline="No connection." data-say-over="Start again."'
)


def page(ceremony, more="", fields=""):
    buttons = "".join(
        f'<button type="button" data-ceremony="{one}" data-needs-passkeys hidden>{one}</button>'
        for one in ("sign_in", "set_up", "set_up_security_key", "second_factor")
    )
    return f"""<!doctype html><html lang="en"><title>Passkeys</title>
<script type="module" src="/passkeys.js"></script>
<form action="/plain">{fields}<button type="submit">Go on</button></form>
<div data-passkey="{ceremony}" data-options="/options" data-verify="/verify" {WORDS} {more}>{buttons}
<p data-no-passkeys>Your browser has no passkeys.</p>
<p role="alert" data-passkey-status hidden></p></div></html>"""


class Service:
    """A relying party in memory. ``permissions`` is the policy that a front server adds to its pages."""

    permissions = ""

    def __init__(self):
        self.user, self.browser = uuid4(), "a" * 64
        self.stored: dict[str, StoredPasskey] = {}
        self.seen: list[tuple[str, str]] = []
        self.refusals: list[str] = []
        self.pages: dict[str, str] = {}
        self.origin = ""

    def options(self, body):
        ceremony = Ceremony(body["ceremony"])
        self.seen.append(("options", ceremony.value))
        binding = Binding(ceremony, self.browser)
        own = [Descriptor(credential_id) for credential_id in self.stored]
        if ceremony.is_registration:
            account = Account(self.user.bytes, "ada", "Ada")
            return ceremony_options.creation_options(binding, account, "Acme", own)
        named = own if ceremony is Ceremony.SECOND_FACTOR or body.get("identifier") else ()
        return ceremony_options.request_options(binding, named)

    def verify(self, body):
        ceremony = Ceremony(body["ceremony"])
        self.seen.append(("verify", ceremony.value))
        binding, credential = Binding(ceremony, self.browser), body["credential"]
        if ceremony.is_registration:
            new = ceremonies.verify_registration(credential_json.read_registration(credential), binding)
            self.stored[new.credential_id] = StoredPasskey(
                new.credential_id, new.public_key, new.sign_count, new.backup_eligible, self.user.bytes
            )
        else:
            answer = credential_json.read_assertion(credential)
            ceremonies.verify_assertion(answer, self.stored[answer.id], [binding])
        return {"redirect_to": f"/done?{ceremony}"}

    def answer(self, path, body):
        try:
            if path == "/options":
                return 200, {"result": {"public_key": self.options(body)}}
            return 200, {"result": self.verify(body)}
        except PasskeyRefused as refused:
            self.refusals.append(refused.check)
            return 401, {"result": refused.result}


@pytest.fixture
def service(settings):
    running = Service()

    class Handler(BaseHTTPRequestHandler):
        pages: dict[str, str] = {}

        def _send(self, status, body, kind):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Security-Policy", POLICY)
            if running.permissions:
                self.send_header("Permissions-Policy", running.permissions)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            if self.path == "/passkeys.js":
                self._send(200, SCRIPT.read_bytes(), "text/javascript")
            elif self.path == "/favicon.ico":
                self._send(204, b"", "image/png")
            else:
                self._send(200, self.pages.get(self.path, "<h1>done</h1>").encode(), "text/html")

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with tenancy.using(tenancy.DEFAULT):
                status, document = running.answer(self.path, body)
            self._send(status, json.dumps(document).encode(), "application/json")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.pages, running.origin = Handler.pages, f"http://localhost:{server.server_port}"
    settings.BASE_URL, settings.WEBAUTHN_RP_ID = running.origin, "localhost"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield running
    server.shutdown()
    server.server_close()


@pytest.fixture
def opened(service, screens):
    """Open a page with a virtual authenticator."""

    def open_page(content, path="/", **device):
        service.pages[path] = content
        window = screens.open()
        authenticator = VirtualAuthenticator(window, **device)
        window.goto(f"{service.origin}{path}")
        return window, authenticator

    return open_page


def press(window, name):
    window.get_by_role("button", name=name, exact=True).click()


def create(window, service, ceremony="set_up"):
    press(window, ceremony)
    window.wait_for_url(f"**/done?{ceremony}")
    assert service.refusals == []


def test_decision_M61_a_passkey_is_created_and_signs_in(service, opened):
    window, authenticator = opened(page("sign_in"))
    create(window, service)
    window.goto(service.origin)

    press(window, "sign_in")
    window.wait_for_url("**/done?sign_in")

    (credential,) = authenticator.credentials()
    assert credential["isResidentCredential"]
    assert credential["rpId"] == "localhost"
    assert credential["userHandle"] == b64encode(service.user.bytes).decode()
    assert service.refusals == []


def test_decision_M25_a_security_key_is_not_discoverable(service, opened):
    window, authenticator = opened(page("second_factor"), transport="usb", verifies=False, resident=False)
    create(window, service, "set_up_security_key")
    window.goto(service.origin)

    press(window, "second_factor")
    window.wait_for_url("**/done?second_factor")

    assert not authenticator.credentials()[0]["isResidentCredential"]


def test_case_MT16_a_device_that_verifies_nobody_cannot_sign_in(service, opened):
    window, authenticator = opened(page("sign_in"))
    create(window, service)
    window.goto(service.origin)
    authenticator.verify_user(is_verified=False)

    press(window, "sign_in")

    expect(window.get_by_role("alert")).to_have_text("Nothing happened. Try again.")
    assert service.seen[-1] == ("options", "sign_in")


@pytest.mark.parametrize(("verb", "ceremony"), [("get", "sign_in"), ("create", "set_up")])
def test_decision_M57_a_policy_that_forbids_passkeys_is_named(service, opened, verb, ceremony):
    service.permissions = f"publickey-credentials-{verb}=()"
    window, _ = opened(page("sign_in"))

    press(window, ceremony)

    expect(window.get_by_role("alert")).to_have_text("A policy forbids it.")


def test_decision_M25_a_device_registers_once(service, opened):
    window, authenticator = opened(page("set_up"))
    create(window, service)
    window.goto(service.origin)

    press(window, "set_up")

    expect(window.get_by_role("alert")).to_have_text("You have this passkey already.")
    assert len(authenticator.credentials()) == 1


def test_decision_M28_a_refusal_is_said_in_plain_words_and_another_try_is_possible(service, opened):
    window, _ = opened(page("sign_in"))
    create(window, service)
    window.goto(service.origin)
    stored = service.stored.copy()
    for credential_id, passkey in stored.items():
        service.stored[credential_id] = StoredPasskey(
            passkey.credential_id, passkey.public_key, 0, passkey.backup_eligible, uuid4().bytes
        )

    press(window, "sign_in")
    expect(window.get_by_role("alert")).to_have_text("This passkey was not accepted.")
    service.stored = stored
    press(window, "sign_in")
    window.wait_for_url("**/done?sign_in")

    assert service.refusals == ["user_handle"]


FIELD = '<label>Email <input name="identifier" autocomplete="username webauthn"></label>'


class TestAutofill:
    def test_decision_M29_a_passkey_that_is_chosen_in_the_field_signs_in(self, service, opened):
        window, authenticator = opened(page("set_up"))
        create(window, service)
        service.pages["/sign-in"] = page("sign_in", "data-autofill", FIELD)

        window.goto(f"{service.origin}/sign-in")
        window.wait_for_url("**/done?sign_in")  # the virtual authenticator chooses at once

        assert service.refusals == []
        assert authenticator.credentials()

    def test_decision_M29_the_button_ends_the_wait_of_the_field(self, service, opened):
        window, authenticator = opened(page("set_up"))
        create(window, service)
        authenticator.answer(at_once=False)
        service.pages["/sign-in"] = page("sign_in", "data-autofill", FIELD)
        window.goto(f"{service.origin}/sign-in")
        window.wait_for_function("performance.getEntriesByName(location.origin + '/options').length === 1")

        window.wait_for_timeout(300)  # the request of the field has begun, and waits for its user
        authenticator.answer(at_once=True)
        press(window, "sign_in")
        window.wait_for_url("**/done?sign_in")

        assert [kind for kind, _ in service.seen[2:]] == ["options", "options", "verify"]
        assert service.refusals == []

    def test_decision_M29_the_form_is_sent_although_the_field_waits(self, service, opened):
        window, _ = opened(page("sign_in", "data-autofill", FIELD))

        press(window, "Go on")

        window.wait_for_url("**/plain?*")

    def test_decision_M29_a_typed_identifier_does_not_matter(self, service, opened):
        window, _ = opened(page("sign_in", fields=FIELD))
        create(window, service)
        window.goto(service.origin)
        window.get_by_label("Email").fill("ada@example.com")

        press(window, "sign_in")
        window.wait_for_url("**/done?sign_in")


def test_a_browser_without_passkeys_is_told(service, screens):
    service.pages["/"] = page("sign_in", "data-autofill", FIELD)
    window = screens.open()
    window.add_init_script("delete window.PublicKeyCredential")

    window.goto(service.origin)

    expect(window.get_by_text("Your browser has no passkeys.")).to_be_visible()
    expect(window.get_by_role("button", name="sign_in", exact=True)).to_be_hidden()
    assert service.seen == []


@pytest.mark.parametrize("breaks", ["toJSON", "parse", "both"])
def test_decision_M29_browsers_without_the_functions_for_json_work(service, opened, screens, breaks):
    service.pages["/"] = page("sign_in")
    window = screens.open()
    VirtualAuthenticator(window)
    if breaks != "parse":
        window.add_init_script("delete PublicKeyCredential.prototype.toJSON")
    if breaks != "toJSON":
        window.add_init_script(
            "delete PublicKeyCredential.parseCreationOptionsFromJSON;"
            "delete PublicKeyCredential.parseRequestOptionsFromJSON"
        )
    window.goto(service.origin)

    create(window, service)
    window.goto(service.origin)
    press(window, "sign_in")
    window.wait_for_url("**/done?sign_in")

    assert service.refusals == []


def test_case_MT41_the_device_is_told_about_the_passkeys_of_this_user_only(service, opened):
    window, authenticator = opened(page("set_up"))
    create(window, service)
    neighbour = service.user
    service.user = uuid4()
    service.stored.clear()
    window.goto(service.origin)
    create(window, service)
    assert len(authenticator.credentials()) == 2
    service.pages["/account"] = (
        '<!doctype html><html lang="en"><title>x</title><script type="module" src="/passkeys.js"></script>'
        f'<ul data-passkeys-of="{encode(service.user.bytes)}" data-rp-id="localhost" '
        'data-user-name="ada" data-display-name="Ada"></ul></html>'
    )

    window.goto(f"{service.origin}/account")
    window.wait_for_timeout(500)

    left = [one["userHandle"] for one in authenticator.credentials()]
    assert left == [b64encode(neighbour.bytes).decode()]
    assert service.user != neighbour


def test_the_script_is_small():
    assert len(SCRIPT.read_bytes()) <= 8 * 1024
