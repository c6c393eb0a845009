"""Every sentence of the operators' site is marked for translation.

The pages are walked in a language in which each marked message stands in brackets. What is outside of them
has to be data or a name.
"""

import shutil
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client, override_settings

from tests.support import openid, operators, pseudo_language
from tests.support.admin_pages import first_of, furnish
from tests.support.cast import PASSWORD, query_of
from tests.support.console_language import data_of, unmarked
from tests.support.operators import Operator, address_of, administrator, operations, pages
from tests.support.social import connect

pytestmark = pytest.mark.skipif(not shutil.which("xgettext"), reason="needs gettext")

LOG = "/admin/audit/entry/"


@pytest.fixture
def estate(acme):
    """An operator in this process, at a tenant with several rows in each list."""
    furnish(acme)
    operator = Operator(administrator(), Client())
    operator.sign_in()
    operator.choose(acme)
    return operator, acme, data_of(acme)


class TestPages:
    @pytest.mark.parametrize("kind", pages(), ids=lambda kind: kind.opts.label_lower)
    def test_of_rows_and_operations_are_marked(self, estate, kind):
        operator, world, data = estate
        row = first_of(kind, world)
        paths = [address_of(kind), address_of(kind, row.pk, "change")]
        paths += [f"{address_of(kind)}?q=nothing-like-it"] if kind.search_fields else []
        paths += [f"{paths[1]}?edit={one.name}" for one in kind.catalogue.all() if one.edits]
        possible = [one for one in operations(kind) if not one.needs_row or one.is_possible(row)]
        forms = {
            address_of(kind, *((row.pk,) if one.needs_row else ()), "do", one.name): one for one in possible
        }
        changing = [path for path, one in forms.items() if not one.is_destructive]
        form = {"drawn_for": world.tenant.pk}
        selected = {**form, "_selected_action": str(row.pk)}
        bulk = [{**selected, "action": one.name} for one in possible if one.bulk_label]

        with pseudo_language.spoken():
            answers = [operator.get(path) for path in (*paths, *forms)]
            answers += [operator.http.post(address_of(kind), sent) for sent in bulk]
            answers += [operator.http.post(path, form, follow=True) for path in changing]

        assert not (found := unmarked(answers, data | data_of(world))), "\n".join(found)

    def test_of_oneself_and_of_the_tenant_are_marked(self, estate):
        operator, world, data = estate
        own = [
            f"/admin/{name}/" for name in ("tenant", "password", "preferences", "email", "two-step", "search")
        ]
        paths = [
            *("/admin/", "/admin/?days=90", *own, "/admin/tenant/?q=nothing", "/admin/search/?q=Person"),
            *("/admin/search/?q=nothing-like-it", f"{LOG}?when=all", f"{LOG}?when=2001-01-01"),
        ]

        with pseudo_language.spoken(), override_settings(EMAIL_HOST="mail.example"):
            answers = [operator.get(path) for path in paths]
            answers += [operator.http.post(path, {"drawn_for": world.tenant.pk}) for path in own[1:5]]
            answers += [operator.get("/admin/nothing/"), operator.get("/admin/users/user/?unknown=1")]

        assert not (found := unmarked(answers, data | data_of(world))), "\n".join(found)

    def test_before_the_sign_in_are_marked(self, acme):
        visitor = Client()
        paths = (
            "/admin/login/",
            "/admin/recover/",
            "/admin/recover/new/",
            "/admin/invitation/",
            "/admin/nothing/",
        )

        with pseudo_language.spoken(), override_settings(EMAIL_HOST="mail.example"):
            answers = [visitor.get(path) for path in paths]
            answers += [visitor.post(path, {}) for path in ("/admin/login/", "/admin/recover/")]
            answers.append(visitor.post("/admin/login/", {"username": "nobody-here", "password": "wrong"}))

        assert not (found := unmarked(answers, data_of(acme))), "\n".join(found)


class TestResultsOfTrials:
    """A trial ends with a page of its own: the report of what happened, or why there is none."""

    def test_of_sign_ins_are_marked(self, estate):
        operator, world, data = estate
        client = world.application(grant_types=["authorization_code", "refresh_token"])
        user = world.user(name="Ada Lovelace", email="ada@acme.example")
        trial = f"/admin/applications/application/{client.application.pk}/do/try-sign-in/"

        scopes = ("openid profile email offline_access", "openid", "openid", "openid", "openid")
        errors = ("", "", "access_denied", "invalid_scope", "server_error")

        with pseudo_language.spoken():
            answers = []
            for scope, error in zip(scopes, errors, strict=True):
                begun = begin(operator, trial, scope=scope, signs_in_again="on")
                sent = query_of(sign_in(operator, world, user, begun))
                sent |= {"code": "", "error": error} if error else {}
                answers.append(follow(operator, f"{trial}?{urlencode(sent)}"))
            unknown = follow(operator, f"{trial}?state=unknown")

        assert {answer.status_code for answer in answers} == {200}
        assert unknown.status_code == 400
        assert not (found := unmarked([*answers, unknown], data | data_of(world))), "\n".join(found)

    def test_of_connectors_are_marked(self, estate, settings):
        settings.DEVELOPMENT = True  # loopback may be reached
        operator, world, data = estate
        with openid.provider() as provider:
            provider.publish()
            connector = connect(world, provider.config)
            trial = f"/admin/connectors/connector/{connector.pk}/do/try/"
            person = {"sub": "42", "name": "Ada", "email": "ada@acme.example"}

            with pseudo_language.spoken():
                sent = [provider.approve(begin(operator, trial), **person, email_verified=True)]
                sent.append(provider.approve(begin(operator, trial), sub="43"))
                sent.append(provider.approve(begin(operator, trial), **person, nonce="wrong"))
                declined = ("access_denied", "invalid_scope", "server_error", "unknown")
                sent += [
                    {"state": query_of(begin(operator, trial))["state"], "error": error} for error in declined
                ]
                answers = [follow(operator, f"{trial}?{urlencode(query)}") for query in sent]
                unknown = follow(operator, f"{trial}?state=unknown")

        assert {answer.status_code for answer in answers} == {200}
        assert unknown.status_code == 400
        assert not (found := unmarked([*answers, unknown], data | data_of(world) | {*person.values()})), (
            "\n".join(found)
        )


def begin(operator: Operator, trial: str, **typed: str) -> str:
    """Press the button of a trial; return the address of the authorization request."""
    answer = operator.submit(trial, **typed)
    assert answer.status_code == 303, operators.text_of(answer)
    return str(answer["Location"])


def sign_in(operator: Operator, world: Any, user: Any, address: str) -> str:
    """Sign the user in, and agree; return the address of the callback."""
    interaction = query_of(operator.get(address)["Location"])["interaction"]
    typed = {"identifier": user.username, "password": PASSWORD, "interaction": interaction}
    api = f"/t/{world.tenant.slug}/api/interaction/sign-in"
    signed_in = operator.http.post(api, typed, content_type="application/json")
    assert signed_in.status_code == 200, signed_in.content
    return str(operator.get(signed_in.json()["result"]["redirect_to"])["Location"])


def follow(operator: Operator, address: str) -> Any:
    return operator.get(address, follow=True)
