"""What the lists and pages of the operators' site call things: by name, in words, with units."""

import re
from html import unescape

from django.utils import timezone

from identity.operator_kit import checklist
from identity.resources.models import Resource
from interaction.connectors import services as connectors
from interaction.verification.models import OutgoingMessage
from oidc.settings import services as settings
from tests.support.operators import administrator

OIDC = {"client_id": "acme", "client_secret": "x", "issuer": "https://login.acme.example"}
SMTP = {"host": "mail.acme.example", "from_email": "id@acme.example"}


def cells(page, name):
    """The texts of a column of a list."""
    found = re.findall(rf'<t[hd][^>]*class="[^"]*field-{name}\b[^"]*"[^>]*>(.*?)</t[hd]>', page, re.DOTALL)
    return [unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in found]


def lines(page):
    """The values of a page by their labels."""
    found = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page, re.DOTALL)
    return {label: unescape(re.sub(r"<[^>]+>", "", value)).strip() for label, value in found}


def test_a_connector_has_the_name_on_its_button(acme, operator):
    with acme.active():
        for name in ("Acme staff", "Acme partners"):
            connectors.create(
                connector_id="oidc", type="Social", config=OIDC | {"display_name": name}, is_proven=True
            )

    page = operator.get("/admin/connectors/connector/").text

    assert set(cells(page, "name")) == {"Acme staff", "Acme partners"}
    assert cells(page, "provider") == ["OpenID Connect", "OpenID Connect"]


def test_the_security_of_a_mail_server_is_named_in_words(acme, operator):
    with acme.active():
        smtp = connectors.create(
            connector_id="smtp", type="Email", config=SMTP | {"security": "none"}, is_proven=True
        )
    address = f"/admin/connectors/connector/{smtp.pk}"

    shown = operator.get(f"{address}/change/").text
    form = operator.get(f"{address}/do/change/").text

    assert lines(shown)["Security"] == "No encryption"
    assert '<option value="starttls">STARTTLS</option>' in form
    assert '<option value="none" selected>No encryption</option>' in form
    assert "The default is STARTTLS." in form


def test_a_waiting_message_is_named_by_its_time(acme, operator):
    with acme.active():
        message = OutgoingMessage.objects.create(sealed="x", due_at=timezone.now())
    day = f"{message.created_at:%Y-%m-%d}"

    page = operator.get("/admin/verification/outgoingmessage/").text
    (named,) = cells(page, "created_at")
    row = operator.get(f"/admin/verification/outgoingmessage/{message.pk}/change/").text

    assert named.startswith(day)
    assert f"<h1>Message created at {day}" in row


def test_lifetimes_have_units(acme, operator):
    with acme.active():
        api = Resource.objects.create(name="Shop", indicator="https://shop.example", access_token_ttl=5_400)
        settings.change(
            {"session_idle_seconds": 3_600, "session_absolute_seconds": 2_592_000}, is_proven=True
        )
        current = settings.current()

    listed = cells(operator.get("/admin/resources/resource/").text, "lifetime")
    shown = lines(operator.get(f"/admin/resources/resource/{api.pk}/change/").text)
    lifetimes = lines(operator.get(f"/admin/oidc_settings/oidcsettings/{current.pk}/change/").text)

    assert "90 minutes" in listed
    assert shown["Lifetime of access tokens"] == "90 minutes"
    assert lifetimes["Sessions"] == "1 hour without use, 30 days at most"


def test_without_its_own_lifetimes_a_tenant_shows_those_of_the_installation(acme, operator):
    with acme.active():
        current = settings.current()

    shown = lines(operator.get(f"/admin/oidc_settings/oidcsettings/{current.pk}/change/").text)

    assert shown["Sessions"] == "As the installation: 1 day without use, 14 days at most"
    assert shown["Refresh tokens"] == "As the installation: 14 days without use, 180 days at most"


def test_a_lifetime_that_a_tenant_does_not_set_is_that_of_the_installation(acme, operator):
    with acme.active():
        settings.change(
            {"session_idle_seconds": 3_600, "refresh_token_absolute_seconds": 7_776_000}, is_proven=True
        )
        current = settings.current()

    shown = lines(operator.get(f"/admin/oidc_settings/oidcsettings/{current.pk}/change/").text)

    assert shown["Sessions"] == "1 hour without use, 14 days at most"
    assert shown["Refresh tokens"] == "14 days without use, 90 days at most"


def test_the_page_of_a_key_is_called_by_its_algorithm(acme, operator):
    page = operator.get("/admin/keys/signingkey/").text
    (address,) = re.findall(r'href="(/admin/keys/signingkey/[^"]+/change/)', page)

    assert "<h1>ES256 (Active)</h1>" in operator.get(address).text


def test_the_page_of_an_entry_is_called_by_what_happened(acme, operator):
    acme.browser().sign_in(acme.user("ada"), "not the password")
    page = operator.get("/admin/audit/entry/?result=failed").text
    address = re.findall(r'href="(/admin/audit/entry/[^"]+/change/[^"]*)"', page)[0]

    shown = operator.get(unescape(address)).text

    assert "<h1>Sign-in with a password failed: the password is wrong</h1>" in shown
    assert lines(shown)["Key"] == "SignIn.Password"


def test_the_last_danger_is_to_delete(acme, operator):
    user = acme.user("ada")

    page = operator.get(f"/admin/users/user/{user.pk}/change/").text

    dangers = re.findall(r'class="destructive">([^<]+)</a>', page)
    assert dangers == ["Suspend user", "Sign out everywhere", "Delete user"]


def test_the_columns_of_administrators_and_members_have_the_words_of_their_pages(acme, operator):
    administrators = operator.get("/admin/administrators/administrator/").text
    members = operator.get("/admin/organizations/membership/?is_admin__exact=0").text

    assert "Manages every tenant" in administrators
    assert "Superuser status" not in administrators
    assert "Last sign-in" in administrators
    assert "<summary>Administrator:" in members


def test_a_text_too_short_for_the_search_is_not_called_unknown(acme, operator):
    page = operator.get("/admin/search/", params={"q": "zz"}).text

    assert "Type at least three letters" in page
    assert "matches" not in page


def test_the_step_to_invite_a_colleague_leads_to_the_invitation(acme):
    who = administrator()
    with acme.active():
        (step,) = [step for step in checklist.get_steps(who) if step.label == "Invite a colleague"]

    assert step.url == "/admin/administrators/administrator/do/invite/"
