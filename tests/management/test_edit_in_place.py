"""Editing a card in place on the operators' site: the form of an operation on the page of the row."""

import html
import re
from typing import Any

import pytest

from audit.models import Entry
from identity.core import tenancy
from interaction.connectors.models import Connector
from tests.support import operators
from tests.support.cards import (
    APPLICATION,
    CASES,
    CONNECTOR,
    EXPERIENCE,
    GOOGLE,
    OF_THE_INSTALLATION,
    ORGANIZATION,
    USER,
    Card,
    card_of,
)
from tests.support.cast import World
from tests.support.operators import Operator, administrator


def test_each_operation_that_edits_a_card_is_tried():
    declared = {
        (f"{kind.opts.app_label}/{kind.opts.model_name}", operation.name)
        for kind in operators.pages()
        for operation in kind.catalogue.all()
        if operation.edits
    }

    assert declared == {case[:2] for case in CASES.values()}


SECRET = GOOGLE["client_secret"]


def form_of(page: Any) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text)
    return {name: html.unescape(value) for name, value in found}


def count(world: World, event: str, kind: str = "") -> int:
    tenant = tenancy.DEFAULT_ID if kind in OF_THE_INSTALLATION else world.tenant.pk
    return Entry.objects.filter(tenant_id=tenant, key=event).count()


def cut(page: Any, card: Card) -> str:
    """The card in a page."""
    (found,) = re.findall(rf'<section [^>]*id="card-{card.operation}".*?</section>', page.text, re.DOTALL)
    return str(found)


class TestCards:
    @pytest.mark.parametrize("case", CASES)
    def test_the_form_opens_in_its_card_and_leads_back_to_it(self, acme, operator, case):
        kind, operation, typed, shown, name = CASES[case]
        card = card_of(acme, kind, operation)
        closed = operator.get(f"{card.page}change/")
        before = count(acme, f"{name}.Update", kind)

        opened = operator.get(card.url)
        saved = operator.http.post(card.target, data=form_of(opened) | typed)
        after = operator.get(card.anchor)

        assert f'href="{card.anchor.replace("#", f"?edit={operation}#")}"' in cut(closed, card)
        assert "<form" not in cut(closed, card)
        assert f'action="{card.target}"' in cut(opened, card)
        assert opened.text.count('id="operation"') == 1
        assert "no-store" in opened.headers["Cache-Control"]
        assert saved.status_code == 303, saved.text
        assert saved.headers["Location"] == card.anchor
        assert shown in html.unescape(cut(after, card))
        assert 'role="status"' in after.text
        assert count(acme, f"{name}.Update", kind) == before + 1

    @pytest.mark.parametrize("case", CASES)
    def test_the_buttons_of_the_page_do_not_lead_to_the_form_too(self, acme, operator, case):
        kind, operation, *_ = CASES[case]
        card = card_of(acme, kind, operation)

        page = operator.get(f"{card.page}change/").text

        buttons = "".join(re.findall(r'<ul class="object-tools">.*?</ul>', page, re.DOTALL))
        assert f'href="{card.target}"' not in buttons
        assert operator.get(card.target).status_code == 200

    @pytest.mark.parametrize("case", ["user", "application", "organization", "role"])
    def test_the_first_button_opens_the_card(self, acme, operator, case):
        card = card_of(acme, *CASES[case][:2])

        page = operator.get(f"{card.page}change/").text

        first = re.search(r'<ul class="object-tools">\s*<li><a href="([^"]+)" class="primary">', page)
        assert first
        assert first[1] == card.anchor.replace("#", "?edit=change#")

    def test_only_one_card_is_open(self, acme, operator):
        card = card_of(acme, APPLICATION, "change")

        page = operator.get(card.url)

        assert "<dl>" not in cut(page, card)
        assert "<dl>" in cut(page, Card(card.page, "describe"))


class TestRefusals:
    def test_an_error_is_in_the_card_and_its_field_has_the_focus(self, acme, operator):
        card = card_of(acme, EXPERIENCE, "passwords")
        form = form_of(operator.get(card.url))

        refused = operator.http.post(card.target, data=form | {"min_length": "3", "require_numbers": "on"})

        assert refused.status_code == 400
        shown = cut(refused, card)
        assert "greater than or equal to 6" in shown
        (field,) = re.findall(r"<input [^>]*autofocus[^>]*>", refused.text)
        assert 'name="min_length"' in field
        assert 'value="3"' in field
        assert "<dl>" in cut(refused, Card(card.page, "look"))
        again = form_of(refused) | {"min_length": "12"}
        assert operator.http.post(card.target, data=again).headers["Location"] == card.anchor

    def test_a_secret_is_not_in_the_card_and_is_kept_or_asked_for_again(self, acme, operator):
        card = card_of(acme, CONNECTOR, "change")
        closed, opened = operator.get(f"{card.page}change/"), operator.get(card.url)

        operator.http.post(card.target, data=form_of(opened) | {"client_id": "shop-2", "scope": "openid"})
        refused = operator.http.post(
            card.target,
            data=form_of(operator.get(card.url)) | {"client_id": "", "client_secret": "GOCSPX-typed"},
        )

        assert "Set, not shown" in cut(closed, card)
        assert "Redirect URI" in opened.text
        assert refused.status_code == 400
        assert "is required" in cut(refused, card)
        assert [
            page for page in (closed, opened, refused) if SECRET in page.text or "GOCSPX-typed" in page.text
        ] == []
        with acme.active():
            assert Connector.objects.get().config()["client_secret"] == SECRET

    def test_of_two_administrators_the_second_reads_it_in_the_card(self, acme, operator):
        card = card_of(acme, USER, "change")
        other = operators.at(acme)
        forms = [form_of(one.get(card.url)) for one in (operator, other)]

        first = operator.http.post(card.target, data=forms[0] | {"name": "First"})
        second = other.http.post(card.target, data=forms[1] | {"name": "Second"})

        assert (first.status_code, second.status_code) == (303, 412)
        shown = cut(second, card)
        assert "Someone else has changed this" in shown
        assert 'value="Second"' in shown
        assert f'href="{card.anchor.replace("#", "?edit=change#")}">Load the page again' in shown
        assert "First" in cut(operator.get(f"{card.page}change/"), card)
        assert count(acme, "User.Update") == 1

    def test_a_form_that_is_sent_twice_is_saved_once(self, acme, operator):
        card = card_of(acme, ORGANIZATION, "change")
        form = form_of(operator.get(card.url)) | {"name": "Guild"}

        answers = [operator.http.post(card.target, data=form) for _ in range(2)]
        other = operator.http.post(card.target, data=form | {"name": "Lodge"})

        assert [one.headers["Location"] for one in answers] == [card.anchor] * 2
        assert other.status_code == 422
        assert "You have sent this form before" in cut(other, card)
        assert count(acme, "Organization.Update") == 1

    @pytest.mark.parametrize("mark", ["https://evil.example/", "//evil.example", ""])
    def test_the_mark_leads_nowhere_else(self, acme, operator, mark):
        card = card_of(acme, USER, "change")
        form = form_of(operator.get(card.url)) | {"name": "x", "in_place": mark}

        assert operator.http.post(card.target, data=form).headers["Location"] == card.anchor

    @pytest.mark.parametrize("name", ["suspend", "create", "none", "", "%F0%9F%92%A9"])
    def test_what_edits_no_card_opens_nothing(self, acme, operator, name):
        card = card_of(acme, USER, name)

        assert operator.get(card.url).status_code == 404

    def test_what_is_no_longer_possible_says_so(self, acme, operator):
        robot = acme.application("MachineToMachine").application
        card = Card(f"/admin/{APPLICATION}/{robot.pk}/", "lifetimes")

        page = operator.get(card.url)

        assert page.status_code == 200
        assert "“Edit lifetimes” is no longer possible." in page.text
        assert 'id="operation"' not in page.text


class TestRights:
    @pytest.mark.parametrize("role", ["support", "auditor"])
    @pytest.mark.parametrize("case", CASES)
    def test_who_may_not_edit_sees_no_link_and_opens_nothing(self, acme, role, case):
        kind, operation, *_ = CASES[case]
        card = card_of(acme, kind, operation)
        manages = {"is_superuser": True} if kind in OF_THE_INSTALLATION else {"tenants": [acme.tenant.slug]}
        limited: Operator = operators.at(acme, administrator(role=role, **manages))

        page = limited.get(f"{card.page}change/")

        assert page.status_code == 200
        assert f"?edit={operation}" not in page.text
        assert limited.get(card.url).status_code == 403

    def test_of_another_tenant_it_is_unknown(self, rival, operator):
        card = card_of(rival, USER, "change")

        assert operator.get(card.url).status_code == 404
