"""The branding of an application or an organization on the operators' site: card, form and preview."""

import html
import re

import pytest

from tests.support.management import result_of
from tests.support.pictures import data_url, png

LOGO = "https://cdn.example.com/own.svg"
FORMS = {
    "/applications": "/admin/applications/application",
    "/organizations": "/admin/organizations/organization",
}


@pytest.fixture(params=sorted(FORMS))
def place(request, admin):
    """The row in the API, and its page on the operators' site."""
    body = {"name": "Shop"} | ({"type": "SPA"} if request.param == "/applications" else {})
    pk = admin.created(request.param, **body)["id"]
    return f"{request.param}/{pk}", f"{FORMS[request.param]}/{pk}"


def test_the_page_of_an_organization_says_what_its_other_logo_and_applications_are(admin, operator):
    pk = admin.created("/organizations", name="Clinic")["id"]

    page = operator.get(f"/admin/organizations/organization/{pk}/change/").text

    for text in ("Logo for applications", "Two factors required", "Only members of this organization, or"):
        assert text in page
    assert "They get tokens for this organization without a user." in page
    assert "MFA" not in page
    assert "Logo URL" not in page


def hidden_of(page):
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text)
    return {name: html.unescape(value) for name, value in found}


def test_the_form_saves_what_was_typed_and_uploaded(acme, admin, operator, place):
    row, page = place
    form = f"{page}/do/branding/"
    shown = operator.get(form)
    typed = {"primary_color": "#00aa00", "layout": "plain", "dark_logo_url": LOGO}
    file = {"upload_logo_url": ("x.exe", png(), "text/html")}

    saved = operator.http.post(form, data=hidden_of(shown) | typed, files=file)

    assert saved.status_code == 303, saved.text
    branding = result_of(admin.get(row))["branding"]
    assert typed.items() <= branding.items()
    assert branding["logo_url"].startswith(f"{acme.address}/pictures/")
    after = operator.get(f"{page}/change/").text
    assert all(text in after for text in (LOGO, "#00aa00", "Plain: no card", branding["logo_url"]))
    assert f'value="{branding["logo_url"]}"' in operator.get(form).text


def test_an_upload_that_is_refused_has_its_error_and_the_focus(operator, place):
    """They were at the field of the URL, which the operator had left empty."""
    _, page = place
    card = operator.get(f"{page}/change/?edit=branding")
    file = {"upload_logo_url": ("x.png", b"no picture", "image/png")}

    refused = operator.http.post(f"{page}/do/branding/", data=hidden_of(card), files=file)

    assert refused.status_code == 400
    assert re.findall(r'class="errorlist" id="(\w+)"', refused.text) == ["id_upload_logo_url_error"]
    (focused,) = re.findall(r"<input [^>]*autofocus[^>]*>", refused.text)
    assert 'name="upload_logo_url"' in focused


def test_the_card_says_that_nothing_is_set_and_leads_to_the_form(operator, place):
    _, page = place
    shown = operator.get(f"{page}/change/").text

    assert "Same as the tenant" in shown
    assert f"{page}/change/?edit=branding#card-branding" in shown
    assert "preview-frame" not in shown


def test_the_preview_is_the_page_with_the_tenants_other_members(acme, admin, operator, place):
    _, page = place
    tenants = {"layout": "split", "primary_color": "#111111"}
    result_of(admin.patch("/sign-in-experience", branding=tenants))
    form = f"{page}/do/branding/"
    token = hidden_of(operator.get(form))["csrfmiddlewaretoken"]

    drawn = operator.http.post(
        f"{form}preview/sign-in/",
        data={"csrfmiddlewaretoken": token, "drawn_for": operator.tenant, "primary_color": "#00aa00"},
        files={"upload_logo_url": ("x", png(), "image/png")},
    )

    assert drawn.status_code == 200, drawn.text
    assert f'src="{data_url(png())}"' in drawn.text
    assert 'class="split"' in drawn.text
    (stylesheet,) = re.findall(r'href="([^"]+brand\.css[^"]*)"', drawn.text)
    path = html.unescape(stylesheet).removeprefix(f"/t/{acme.tenant.slug}")
    assert "--brand:#00aa00" in acme.get(path).text


def test_the_form_says_what_is_wrong_at_its_field(operator, admin, place):
    row, page = place
    refused = operator.submit(f"{page}/do/branding/", primary_color="red")

    assert refused.status_code == 400
    assert "must be a colour like #0a84ff" in refused.text
    assert not any(result_of(admin.get(row))["branding"].values())


@pytest.mark.parametrize("fields", [{"type": "MachineToMachine"}, {"type": "SPA", "is_third_party": True}])
def test_an_application_without_pages_of_its_own_has_no_form(admin, operator, fields):
    pk = admin.created("/applications", name="N", **fields)["id"]

    shown = operator.get(f"/admin/applications/application/{pk}/change/").text

    assert "do/branding/" not in shown
    assert "Same as the tenant" not in shown
