"""The page of an application on the operators' site, and how one is created there."""

import re
from html import unescape
from itertools import pairwise

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.test import RequestFactory

from management.site.applications import guides, quick_start
from oidc.applications.models import Application
from oidc.applications.type_words import TYPES
from tests.support.admin_pages import operate
from tests.support.application_page import KIND, page_of
from tests.support.operators import text_of

PUBLIC = ("SPA", "Native")
FOLDER = settings.BASE_DIR / "docs/how-to"
CONFIDENTIAL = ("Traditional", "MachineToMachine")


def jumps_of(page):
    """The navigation between the sections, as pairs of an anchor and a title."""
    (found,) = re.findall(r'<nav class="tabs jumps".*?</nav>', page, re.DOTALL)
    return re.findall(r'<a href="#([^"]+)">([^<]+)</a>', found)


def create(operator, application_type):
    return operate(operator, KIND, None, "create", name="Shop", type=application_type)


class TestSections:
    @pytest.mark.parametrize("application_type", [*PUBLIC, *CONFIDENTIAL])
    def test_it_has_sections_in_order_and_a_link_to_each(self, acme, operator, application_type):
        application = acme.application(application_type).application

        page = page_of(operator, application)

        jumps = jumps_of(page)
        order = [
            "Quick start",
            "Settings",
            "Secrets",
            "Permissions",
            "Organizations",
            "Activity",
            "Danger zone",
        ]
        titles = [title for _, title in jumps]
        assert titles == [title for title in order if title in titles]
        assert {"Quick start", "Settings", "Secrets", "Permissions", "Danger zone"} <= set(titles)
        assert all(f'id="{anchor}"' in page for anchor, _ in jumps)
        assert len(page) < 50_000

    def test_its_endpoints_are_those_of_discovery_as_text(self, acme, operator):
        application = acme.application().application
        metadata = acme.get("/.well-known/openid-configuration").json()

        page = page_of(operator, application)

        names = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint",
                 "end_session_endpoint")  # fmt: skip
        values = [metadata[name] for name in names]
        values += [application.client_id, f"{metadata['issuer']}/.well-known/openid-configuration"]
        for value in values:
            assert f"<code>{value}</code>" in page
            assert f'data-copy-text="{value}"' in page

    def test_a_service_is_not_told_of_endpoints_for_users(self, acme, operator):
        service = acme.application("MachineToMachine").application

        page = page_of(operator, service)

        assert "/oidc/token</code>" in page
        assert "/oidc/authorize" not in page

    def test_of_another_tenant_it_is_unknown(self, operator, rival):
        theirs = rival.application().application

        answer = operator.get(f"/admin/{KIND}/{theirs.pk}/change/")

        assert answer.status_code == 404
        assert theirs.client_id not in answer.text


class TestTypes:
    def test_each_type_is_a_radio_button_with_a_sentence(self, operator):
        page = unescape(operator.get(f"/admin/{KIND}/do/create/").text)

        for value, words in TYPES.items():
            (label,) = re.findall(rf"<label[^>]*>\s*<input[^>]*value=\"{value}\".*?</label>", page, re.DOTALL)
            assert 'type="radio"' in label
            assert str(words.name) in label
            assert str(words.sentence) in label

    def test_the_lists_of_uris_show_the_rule_and_examples_that_are_accepted(self, operator):
        page = unescape(operator.get(f"/admin/{KIND}/do/create/").text)

        helps = re.findall(r'<div class="help" id="id_\w*redirect_uris_helptext">(.*?)</div>', page)
        examples = [re.findall(r"such as (\S+[^\s.])", text) for text in helps]
        assert examples == [
            ["https://app.example.com/callback", "com.example.app:/callback"], ["https://app.example.com/"],
        ]  # fmt: skip
        assert all(f'placeholder="{web}"' in page for web, *_ in examples)
        fields = {"name": "App", "type": "Native", "redirect_uris": "\n".join(examples[0])}
        logout = examples[1][0]
        assert operate(operator, KIND, None, "create", **fields, post_logout_redirect_uris=logout).is_redirect

    @pytest.mark.parametrize("application_type", PUBLIC)
    def test_a_public_application_is_shown_no_secret(self, acme, operator, application_type):
        created = create(operator, application_type)

        with acme.active():
            application = Application.objects.get(name="Shop")
        assert created.headers["Location"] == f"/admin/{KIND}/{application.pk}/change/"
        page = page_of(operator, application)
        assert "it proves with PKCE" in page
        assert not {"add-secret", "delete-secret", "secret"} & set(re.findall(r"/do/([a-z-]+)/", page))
        assert operator.get(f"/admin/{KIND}/{application.pk}/do/secret/").status_code == 302

    @pytest.mark.parametrize("application_type", CONFIDENTIAL)
    def test_a_confidential_application_gets_its_secret_once(self, operator, application_type):
        created = create(operator, application_type)

        assert "CLIENT_SECRET=" in operator.get(created.headers["Location"]).text


GUIDE = """# Flask

You get an application.

## 1. Register

```bash
curl $ISSUER/api/v1/applications --json '{
  "name": "Example", "type": "Traditional",
  "oidc_client_metadata": {
    "redirect_uris": ["http://localhost:5050/callback"],
    "post_logout_redirect_uris": ["http://localhost:5050/"]}}'
```

## 2. Install

```sh
pip install flask
```

## 3. Configure

```sh
export ISSUER=…
export CLIENT_ID=…
export CLIENT_SECRET=…
export SESSION_SECRET=$(openssl rand -hex 32)
export VITE_ISSUER=$ISSUER VITE_CLIENT_ID=$CLIENT_ID
```

## 4. Save as `app.py`

```python
ORIGIN = os.environ.get("ORIGIN", "http://localhost:5050")
if 1 < 2: print("&")
```

## 5. Run

```sh
python app.py
```

Further words.
"""
SPA_GUIDE = (
    GUIDE.replace("Traditional", "SPA")
    .replace("# Flask", "# React, without a server")
    .replace(
        'ORIGIN = os.environ.get("ORIGIN", "http://localhost:5050")', 'const ISSUER = "…", CLIENT_ID = "…";'
    )
)


def parse(text: str) -> guides.Guide:
    guide = guides.parse("flask", text)
    assert guide
    return guide


class TestGuides:
    def test_a_how_to_is_read_as_data(self):
        guide = parse(GUIDE)

        assert (guide.title, guide.application_type) == ("Flask", "Traditional")
        assert guide.redirect_uris == ("http://localhost:5050/callback",)
        assert (guide.install, guide.run) == ("pip install flask", "python app.py")
        assert [file.name for file in guide.files] == ["app.py"]

    @pytest.mark.parametrize(
        "needed", ["## 4. Save as", '"type": "Traditional"', "export CLIENT_ID=", "# Flask\n"]
    )
    def test_a_page_of_another_shape_is_left_out(self, needed):
        assert guides.parse("flask", GUIDE.replace(needed, "")) is None

    def test_every_how_to_that_has_files_to_save_is_offered(self):
        pages = [page for page in FOLDER.glob("*.md") if "Save as `" in page.read_text()]

        offered = {guide.name for guide in guides.get_all()}

        assert offered == {page.stem for page in pages}
        assert all(guide.application_type in TYPES for guide in guides.get_all())

    @pytest.mark.parametrize(
        ("kind", "first", "last"),
        [
            ("Traditional", "flask", "nginx"),
            ("SPA", "single-page", "single-page"),
            ("Native", "native", "native"),
            ("MachineToMachine", "machines", "api-node"),
        ],
    )
    def test_the_guide_that_fits_most_applications_of_a_type_is_the_first(self, kind, first, last):
        names = [guide.name for guide in guides.get_all() if guide.application_type == kind]

        assert (names[0], names[-1]) == (first, last)


class TestQuickStart:
    def of(self, world, guide=GUIDE, **fields):
        application = world.application(**fields).application
        with world.active():
            return application, quick_start.fill_in(parse(guide), application)

    def test_the_values_are_the_applications_and_the_secret_is_a_placeholder(self, acme):
        application, filled = self.of(acme, redirect_uris=["http://localhost:5050/callback"])

        assert filled.configure.splitlines() == [
            f"export ISSUER={acme.issuer}",
            f"export CLIENT_ID={application.client_id}",
            "export CLIENT_SECRET=the-client-secret",
            "export SESSION_SECRET=$(openssl rand -hex 32)",
            "export VITE_ISSUER=$ISSUER VITE_CLIENT_ID=$CLIENT_ID",
        ]
        assert filled.missing == ""

    def test_constants_of_a_file_are_filled_in(self, acme):
        application, filled = self.of(
            acme, SPA_GUIDE, type="SPA", redirect_uris=["http://localhost:5050/callback"]
        )

        assert (
            f'const ISSUER = "{acme.issuer}", CLIENT_ID = "{application.client_id}";' in filled.files[0].text
        )

    @pytest.mark.parametrize(
        "origin", ["https://shop.example", "http://localhost:8000", "http://127.0.0.1:1"]
    )
    def test_a_registered_uri_with_the_same_path_sets_the_origin(self, acme, origin):
        _, filled = self.of(acme, redirect_uris=["https://shop.example/other", f"{origin}/callback"])

        assert f'ORIGIN = os.environ.get("ORIGIN", "{origin}")' in filled.files[0].text
        assert filled.missing == ""

    def test_the_code_listens_on_the_port_of_the_registered_uri(self, acme):
        guide = GUIDE.replace("python app.py", "app.py --port 5050")
        _, filled = self.of(acme, guide, redirect_uris=["http://localhost:8000/callback"])

        assert filled.run == "app.py --port 8000"

    def test_it_names_the_redirect_uri_that_is_missing(self, acme):
        _, filled = self.of(acme, redirect_uris=["https://shop.example/other"])

        assert filled.missing == "http://localhost:5050/callback"
        assert '"http://localhost:5050"' in filled.files[0].text

    @pytest.mark.parametrize("query", [{}, {"framework": "flask"}, {"framework": "none"}])
    def test_the_card_has_a_link_to_add_what_is_missing(self, acme, query):
        _, filled = self.of(acme, redirect_uris=["https://shop.example/other"])
        card = {"guides": [filled], "has_secret": True, "change": "/change-it/", "add_secret": ""}

        shown = render_to_string("admin/quick_start.html", {"card": card}, RequestFactory().get("/", query))

        assert '<a href="/change-it/">Add the redirect URI</a>' in shown
        assert "if 1 &lt; 2: print(&quot;&amp;&quot;)" in shown
        assert '<a lang="en" dir="ltr" href="?framework=flask#guide" aria-current="true">Flask</a>' in shown

    def test_the_page_offers_the_guides_of_its_type(self, acme, operator):
        for kind in TYPES:
            expected = [guide for guide in guides.get_all() if guide.application_type == kind]
            application = acme.application(kind).application
            for guide in expected:
                path = f"/admin/{KIND}/{application.pk}/change/?framework={guide.name}"

                page = unescape(operator.get(path).text)

                offered = re.findall(r'<a [^>]*href="\?framework=([\w-]+)#guide"', page)
                assert offered == [guide.name for guide in expected]
                assert f"CLIENT_ID={application.client_id}" in page
                assert f"ISSUER={acme.issuer}" in page
                assert len(page) < 50_000

    @pytest.mark.parametrize("query", ["framework=none", "framework=", "framework=%F0%9F%92%A9&framework=a"])
    def test_an_unknown_framework_shows_the_first(self, acme, operator, query):
        application = acme.application().application

        assert operator.get(f"/admin/{KIND}/{application.pk}/change/?{query}").status_code == 200
        assert operator.get(f"/admin/{KIND}/{application.pk}/change/?other=1").status_code == 400


@pytest.mark.parametrize("application_type", ["Traditional", "SPA"])
def test_its_headings_skip_no_level_and_cards_are_below_sections(acme, operator, application_type):
    application = acme.application(application_type).application

    page = text_of(operator.get(f"/admin/{KIND}/{application.pk}/change/"))

    headings = re.findall(r"<h([1-6])\b[^>]*>(.*?)</h", page)
    levels = [int(level) for level, _ in headings]
    sections = [title for level, title in headings if level == "2"]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    assert sections == [title for _, title in jumps_of(page)]
    assert {("3", "Endpoints"), ("3", "Record")} <= set(headings)
