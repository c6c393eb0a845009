"""The table of limits: it names every route, and its page in the documentation is up to date."""

from django.conf import settings

from config.route_limits.page import RULES, page
from config.route_limits.routes import ROUTES
from tests.support.endpoints import written_endpoints


def test_the_table_has_every_route_that_needs_no_management_token():
    needs_one = "/api/v1/"
    public = {
        f"{row.method} {row.path}"
        for row in written_endpoints()
        if not row.path.startswith(needs_one) or row.path.startswith(f"{needs_one}m2m/")
    }

    assert sorted(public ^ set(ROUTES)) == []


def test_a_route_without_a_limit_says_why():
    assert [route for route, limited in ROUTES.items() if not (limited.rules or limited.note)] == []


def test_a_route_that_changes_something_has_a_limit_or_needs_a_credential():
    free = [route for route, limited in ROUTES.items() if not limited.rules and not route.startswith("GET ")]

    assert [route for route in free if not ROUTES[route].note.startswith(("needs ", "ends "))] == []


def test_every_rule_has_words_and_a_setting_that_is_documented():
    described = (settings.BASE_DIR / "docs/configuration.md").read_text()

    assert [
        rule.kind for limited in ROUTES.values() for rule in limited.rules if rule.kind not in RULES
    ] == []
    assert [setting for _, setting in RULES.values() if f"| `{setting}` |" not in described] == []


def test_the_page_of_the_documentation_is_this_table():
    written = (settings.BASE_DIR / "docs/security/limits-by-route.md").read_text()

    assert written == page(), "run: python -m config.route_limits.page > docs/security/limits-by-route.md"
