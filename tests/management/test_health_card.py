"""The health card of the dashboard: what needs attention, and the pages that fix it."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.core.checks import Warning  # noqa: A004 - Django's name
from django.db import transaction
from django.utils import timezone

from audit.models import Entry
from identity.core import doctor_checks
from interaction.connectors import services as connectors
from interaction.verification.models import OutgoingMessage
from management.site import health_card
from oidc.keys.models import SigningKey
from tests.support import operators
from tests.support.operators import administrator

CARD = re.compile(r'<section class="card health".*?</section>', re.DOTALL)


def card(operator):
    """The texts of the card, and the links of its lines."""
    (found,) = CARD.findall(operator.get("/admin/").text)
    return unescape(re.sub(r"<[^>]+>", "", found)), [
        unescape(href) for href in re.findall('href="(/admin/[^"]*)"', found)
    ]


@pytest.fixture
def limited(acme):
    return operators.at(acme, administrator(role="auditor", tenants=[acme.tenant.slug]))


def hurt(world):
    """Let everything that the card shows go wrong in a tenant."""
    now = timezone.now()
    with world.active():
        connectors.create(connector_id="outbox-email", type="Email", config={}, enabled=False, is_proven=True)
        SigningKey.objects.default().update(activated_at=now - timedelta(days=120))
    failed = {"result": "failed", "error": "not_delivered"}
    Entry.objects.bulk_create(
        Entry(tenant_id=world.tenant.pk, key="VerificationCode.Send", payload=failed, created_at=now)
        for _ in range(3)
    )


def test_says_what_needs_attention_and_leads_to_what_fixes_it(acme, limited):
    hurt(acme)

    text, links = card(limited)

    assert "3 messages were not delivered in the last 24 hours." in text
    assert "The signing key has been in use for 120 days." in text
    assert "The connector Outbox (email) is disabled." in text
    assert "Nothing is sent through it." in text
    assert text.index("not delivered") < text.index("signing key")  # serious problems come first
    assert "/admin/keys/signingkey/do/rotate/" in links
    (log,) = [link for link in links if "audit" in link]
    assert limited.get(log).text.count('class="field-key') == 3


def test_says_what_no_longer_works_with_a_disabled_provider(acme, limited):
    with acme.active():
        config = {"client_id": "x", "client_secret": "y"}
        connectors.create(connector_id="github", type="Social", config=config, enabled=False, is_proven=True)

    text, _ = card(limited)

    assert "The connector GitHub is disabled." in text
    assert "Users cannot sign in with it." in text
    assert "Nothing is sent" not in text


def test_says_nothing_of_another_tenant(acme, rival, limited):
    hurt(rival)

    text, links = card(limited)

    assert "No problems" in text
    assert links == []


def test_says_that_messages_are_late(acme):
    late = timezone.now() - timedelta(minutes=10)

    with acme.active(), transaction.atomic():  # so that no server sends it meanwhile
        OutgoingMessage.objects.create(sealed="x", due_at=late)
        (problem,) = health_card.get_problems(administrator(tenants=[acme.tenant.slug]))
        transaction.set_rollback(True)

    assert problem.text == "1 message waiting to be sent."
    assert problem.is_serious
    assert problem.page is not None
    assert problem.page.href == "/admin/verification/outgoingmessage/"


def test_only_superusers_see_findings_about_the_installation(acme, monkeypatch):
    found = Warning("the sky is <falling>", hint="look up", id="sky.W001")
    page = "admin:administrators_administrator_changelist"
    monkeypatch.setattr(doctor_checks, "SHOWN", [(lambda: [found], page)])
    superuser, limited = administrator(), administrator(tenants=[acme.tenant.slug])

    with acme.active():
        (problem,) = health_card.get_problems(superuser)
        nothing = health_card.get_problems(limited)

    assert (problem.text, problem.detail) == ("The sky is <falling>.", "Look up.")
    assert problem.page is not None
    assert problem.page.href == "/admin/administrators/administrator/"
    assert nothing == []


def test_a_check_on_the_dashboard_is_one_of_the_doctor():
    names = {check.__name__ for check, _ in doctor_checks.SHOWN}

    assert {"administrators", "second_steps", "files"} <= names
    assert "base_url" not in names  # it uses the network
