"""What an operation on many rows would end and delete, summed up on the page that asks first."""

import re
from html import unescape

import pytest
from django.contrib.admin import site
from django.db import connection
from django.test.utils import CaptureQueriesContext

from identity.core import impacts
from identity.operator_kit import extensions
from identity.organizations.models import Membership, Organization
from identity.roles.models import Role, UserRole
from identity.sessions import services as sessions
from identity.users.models import User
from tests.support.bulk_actions import USERS, run_bulk_action


@pytest.fixture
def people(acme):
    """Three users: two sessions and a role, a session and a membership, and nothing."""
    found = [acme.user() for _ in range(3)]
    with acme.active():
        for user in (found[0], found[0], found[1]):
            sessions.start(user, amr=["pwd"])
        UserRole.objects.create(user=found[0], role=Role.objects.create(name="editor"))
        Membership.objects.create(user=found[1], organization=Organization.objects.create(name="Chapter"))
    return found


def said(page):
    (found,) = re.findall(r'<ul class="impact".*?</ul>', page.text, re.DOTALL)
    return [unescape(text) for text in re.findall(r"<li[^>]*>([^<]*)</li>", found)]


def test_of_all_selected_rows_is_summed_and_of_no_other(acme, operator, people):
    with acme.active():
        sessions.start(acme.user(), amr=["pwd"])

    assert said(run_bulk_action(operator, USERS, "suspend", people)) == ["3 sessions end."]
    assert said(run_bulk_action(operator, USERS, "delete", people)) == [
        "3 sessions end.",
        "1 role loses the user.",
        "1 organization loses a member.",
    ]
    assert said(run_bulk_action(operator, USERS, "suspend", people[2:])) == ["Nothing else is lost."]


def test_where_nothing_can_be_lost_is_not_mentioned(operator, people):
    assert 'class="impact"' not in run_bulk_action(operator, USERS, "unlock", people).text


def test_is_the_sum_of_each_and_costs_one_statement(acme, people):
    with acme.active():
        users = list(User.objects.filter(pk__in=[user.pk for user in people]))
        with CaptureQueriesContext(connection) as captured:
            total = impacts.measure_all(users, impacts.measure)
        each = [impacts.measure(user) for user in users]

    assert len(captured) == 1
    for verb in ("end", "delete", "detach"):
        kinds = {kind for impact in each for kind in getattr(impact, verb)}
        assert getattr(total, verb) == {
            kind: sum(getattr(impact, verb).get(kind, 0) for impact in each) for kind in kinds
        }


def test_is_counted_up_to_the_most(acme, people, monkeypatch):
    monkeypatch.setattr(impacts, "MOST", 2)
    with acme.active():
        total = impacts.measure_all(people, impacts.measure_end)

    assert total is not None
    assert total.end == {"sessions": 3}
    assert total.sentences == ("2+ sessions end",)


def bulk_operations():
    """Return the model and the impact of each operation that can be run for many rows."""
    return [
        (model, operation.impact)
        for model, pages in site._registry.items()
        for operation in (*getattr(pages, "operations", ()), *extensions.registry[model].operations)
        if operation.bulk_label and operation.impact
    ]


def test_every_bulk_operation_with_an_impact_can_sum_it(acme):
    found = bulk_operations()

    assert len(found) >= 3
    with acme.active():
        for model, measured in found:
            assert impacts.measure_all([model(pk=acme.user().pk)], measured) is not None
