"""Two tabs, two tenants: what was drawn for one is never done in the other (AP05).

The walk is made from the registry of the site: a new operation is walked unasked.
"""

import html
import re
from typing import Any

import pytest

from audit.models import Entry
from identity.core import tenancy
from identity.limits.models import Counter
from oidc.keys.models import SigningKey
from tests.support import operators
from tests.support.admin_pages import first_of, furnish
from tests.support.all_rows import changed_since, everything
from tests.support.operators import address_of, operations, pages, text_of

_TYPED = {"username": "eve", "password": "correct horse battery", "name": "Eve", "slug": "eve", "type": "SPA"}


def hidden_in(page: Any) -> dict[str, str]:
    """The hidden fields of a page, as a browser sends them."""
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', text_of(page))
    return {name: html.unescape(value) for name, value in found}


def forms_of(kind: Any, row: Any) -> list[str]:
    """The addresses of everything that is done to a kind of row, or drawn of it."""
    found = []
    for operation in operations(kind):
        at = (row.pk,) if operation.needs_row else ()
        path = address_of(kind, *at, "do", operation.name)
        found.append(path)
        if operation.draft:
            found += [href for _, href in kind.previewer.get_links(operation, row)]
    return found


def forget_limits() -> None:
    """Delete the counters of limits, which servers delete when they have expired."""
    with tenancy.using(tenancy.EVERYWHERE):
        Counter.objects.all().delete()


def test_attack_AP05_no_form_drawn_in_one_tenant_is_done_in_another(acme: Any, rival: Any) -> None:
    furnish(acme)
    furnish(rival)
    operator = operators.at(acme)
    rows = {kind: first_of(kind, acme) for kind in pages()}
    drawn = {path: operator.get(path) for kind in pages() for path in forms_of(kind, rows[kind])}
    assert len(drawn) > 50
    # What a drawing shows is a page of its own, with fields that nobody sends.
    forms = {path: {} if "/preview/" in path else hidden_in(page) for path, page in drawn.items()}
    without = [
        path
        for path, page in drawn.items()
        if page.status_code == 200
        and "/preview/" not in path
        and '<form method="get" id="operation"' not in page.text  # it only reads
        and forms[path].get("drawn_for") != acme.tenant.pk
    ]
    assert without == []
    token = next(
        fields["csrfmiddlewaretoken"] for fields in forms.values() if "csrfmiddlewaretoken" in fields
    )
    operator.choose(rival)
    forget_limits()
    before = everything()

    answers = {
        path: operator.http.post(
            path,
            data={"csrfmiddlewaretoken": token, "drawn_for": acme.tenant.pk, **fields, **_TYPED},
        )
        for path, fields in forms.items()
    }
    unsaid = operator.http.post("/admin/keys/signingkey/do/rotate/", data={"csrfmiddlewaretoken": token})

    assert {path: answer.status_code for path, answer in answers.items() if answer.status_code != 409} == {}
    assert unsaid.status_code == 409
    assert changed_since(before) == {}


def test_attack_AP05_nor_are_those_that_were_ticked_in_one_done_in_another(acme: Any, rival: Any) -> None:
    furnish(acme)
    operator = operators.at(acme)
    bulk = [(kind, one.name) for kind in pages() for one in kind.catalogue.all() if one.bulk_label]
    assert bulk
    lists = {kind: hidden_in(operator.get(address_of(kind))) for kind, _ in bulk}
    ticked = {kind: first_of(kind, acme).pk for kind, _ in bulk}
    operator.choose(rival)
    forget_limits()
    before = everything()

    answers = [
        operator.http.post(
            address_of(kind),
            data={**lists[kind], "action": name, "confirmed": "yes", "_selected_action": str(ticked[kind])},
        )
        for kind, name in bulk
    ]

    assert {fields["drawn_for"] for fields in lists.values()} == {acme.tenant.pk}
    assert {answer.status_code for answer in answers} == {409}
    assert changed_since(before) == {}


def test_attack_AP05_the_answer_says_so_and_leads_back(acme: Any, rival: Any) -> None:
    operator = operators.at(acme)
    path = "/admin/keys/signingkey/do/rotate/"
    form = hidden_in(operator.get(path))
    operator.choose(rival)

    answer = operator.http.post(path, data=form)

    assert "Nothing was changed." in answer.text
    assert f"Go back to {acme.tenant.name}" in html.unescape(answer.text)
    back = operator.http.post("/admin/tenant/", data=hidden_in(answer))
    assert (back.status_code, back.headers["Location"]) == (303, path)
    again = operator.submit(path)
    assert again.status_code == 303
    with acme.active():
        assert SigningKey.objects.count() == 2
    with rival.active():
        assert SigningKey.objects.count() == 1


def test_attack_AP05_a_tenant_that_one_does_not_manage_is_not_named(acme: Any, rival: Any) -> None:
    operator = operators.at(acme, operators.administrator(tenants=[acme.tenant.slug]))
    form = hidden_in(operator.get("/admin/keys/signingkey/do/rotate/"))

    answer = operator.http.post(
        "/admin/keys/signingkey/do/rotate/", data={**form, "drawn_for": rival.tenant.pk}
    )

    assert answer.status_code == 409
    assert rival.tenant.name not in answer.text


def test_decision_N13_what_a_form_made_is_shown_after_a_redirect(acme: Any) -> None:
    operator = operators.at(acme)
    client = acme.application("MachineToMachine")
    path = f"/admin/applications/application/{client.application.pk}/do/secret/"

    sent = operator.submit(path)
    place = sent.headers["Location"]
    shown, reloaded, form = operator.get(place), operator.get(place), operator.get(path)

    assert sent.status_code == 303
    assert place.startswith(f"{path}?shown=")
    assert "This secret won" in shown.text
    assert "This secret won" in reloaded.text
    assert "This secret won" not in form.text
    changes = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Application.Update")
    assert changes.count() == 1


@pytest.mark.parametrize("path", ["/admin/users/user/", "/admin/keys/signingkey/do/rotate/"])
def test_attack_AP05_a_form_without_the_field_is_refused(acme: Any, path: str) -> None:
    operator = operators.at(acme)
    token = hidden_in(operator.get("/admin/tenant/"))["csrfmiddlewaretoken"]

    assert operator.http.post(path, data={"csrfmiddlewaretoken": token}).status_code == 409
