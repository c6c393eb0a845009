"""What follows the links of the documentation's site finds those that lead nowhere: docs/site/links.py."""

import runpy

import pytest
from django.conf import settings

broken = runpy.run_path(str(settings.BASE_DIR / "docs/site/links.py"))["broken"]


@pytest.fixture
def site(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below/page.html").write_text('<h2 id="here">Here</h2><a href="../index.html">Home</a>')
    return tmp_path


@pytest.mark.parametrize(
    "link",
    ["below/page.html", "below/page.html#here", "#top", "https://example.com/", "mailto:a@example.com", "."],
)
def test_a_good_link_is_none_of_them(site, link):
    (site / "index.html").write_text(f'<h1 id="top">Home</h1><a href="{link}">There</a>')

    assert broken(site) == []


@pytest.mark.parametrize("link", ["absent.html", "below/", "below/page.html#there", "#nowhere"])
def test_a_link_that_leads_nowhere_is_named(site, link):
    (site / "index.html").write_text(f'<a href="{link}">There</a>')

    assert [problem for problem in broken(site) if link in problem]


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://unpkg.com/x"></script>',
        '<link rel="stylesheet" href="//fonts.example/x.css">',
        '<img src="http://example.com/x.png">',
    ],
)
def test_what_is_loaded_from_elsewhere_is_named(site, tag):
    (site / "index.html").write_text(tag)

    assert len(broken(site)) == 1


def test_so_is_what_a_style_sheet_loads(site):
    (site / "index.html").write_text("")
    (site / "site.css").write_text("@import url(https://fonts.example/x.css);")

    assert broken(site) == ["site.css loads from elsewhere"]
