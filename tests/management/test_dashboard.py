"""The dashboard: its figures and charts, what they cost, and the entries that they lead to."""

import re
from collections import Counter
from datetime import UTC, date, timedelta
from html import unescape
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit import daily
from audit.models import DayCount, Entry
from database import ids
from identity.core import tenancy
from management.site import charts, entry_subjects, statistics
from management.site.charts import Subject
from tests.support import factors, operators

SUBJECT = Subject("x", "X", {})


def write(world, key="SignIn.Password", *, days_ago=0, result="success", number=1, **columns):
    """Write audit entries of a day, as they would be by then."""
    grant = columns.pop("grant_type", None)
    payload = columns.pop("payload", {"result": result} | ({"grant_type": grant} if grant else {}))
    moment = timezone.now() - timedelta(days=days_ago)
    return Entry.objects.bulk_create(
        Entry(tenant_id=world.tenant.pk, key=key, payload=payload, created_at=moment, **columns)
        for _ in range(number)
    )


def write_full_days(world, clients, days):
    """Store days with every kind of entry, and write failures of users with long names."""
    kinds = [
        *((key, failed, "") for key in daily.SIGN_INS for failed in (False, True)),
        *((key, False, "") for key in (*daily.REGISTRATIONS, "User.Create")),
        *((key, False, grant) for key in daily.TOKENS for grant in (*statistics.GRANTS, "other")),
    ]
    numbers = [[*kind, client, 123_456] for kind in kinds for client in clients]
    today = timezone.now().astimezone(UTC).date()
    DayCount.objects.bulk_create(
        DayCount(
            tenant_id=world.tenant.pk, day=today - timedelta(days=back), active_users=12_345_678,
            numbers=numbers, is_cut=False,
        )
        for back in range(days)
    )  # fmt: skip
    failed = {"result": "failed", "error": "invalid_client", "username": "a-long-name" * 4}
    write(world, "Token.Exchange", number=10, payload=failed, request_id=str(ids.new()))


def cards(page):
    """The figures of the page by their labels: value, change and link."""
    found = re.findall(
        r'<a href="([^"]*)"><span class="figure-label">([^<]*)</span> <strong>([^<]*)</strong> '
        r'<span class="\w+">([^<]*)<',
        page,
    )
    return {label: (value, change, unescape(href)) for href, label, value, change in found}


def rows(operator, href):
    """The number of rows of a list."""
    return operator.get(href).text.count('class="field-key')


class TestFigures:
    def test_are_compared_with_the_period_before_and_lead_to_their_entries(self, acme, rival, operator):
        write(acme, days_ago=200)
        write(acme, days_ago=1, number=6)
        write(acme, "SignIn.VerificationCode", days_ago=2, result="failed", number=2)
        write(acme, days_ago=8, number=3)
        write(acme, days_ago=9, result="failed", number=4)
        write(rival, days_ago=1, number=5)
        write(acme, "Token.Refresh", number=7)

        shown = cards(operator.get("/admin/?days=7").text)

        assert shown["Sign-ins"][:2] == ("6", "100 % more than in the 7 days before")
        assert shown["Failed sign-ins"][:2] == ("2", "50 % fewer than in the 7 days before")
        assert shown["Tokens issued"][:2] == ("7", "none in the 7 days before")
        assert shown["Live sessions"][0] == "0"
        assert [rows(operator, shown[name][2]) for name in ("Sign-ins", "Failed sign-ins")] == [6, 2]

    def test_are_not_compared_with_days_before_the_log_began(self, acme, operator):
        write(acme, days_ago=8)
        write(acme)

        assert cards(operator.get("/admin/?days=7").text)["Sign-ins"][:2] == ("1", "in 7 days")

    def test_by_way_and_by_application_lead_to_their_entries(self, acme, operator):
        client = acme.application(name="Book <shop>")
        of_client = {"application_id": str(client.application.pk)}
        write(acme, "SignIn.Social", result="failed", number=3, **of_client)
        write(acme, "SignIn.Social", **of_client)
        write(acme, "Token.Exchange", grant_type="client_credentials", number=2, **of_client)

        page = operator.get("/admin/").text

        assert ">Other provider</td>" in page
        assert ">75 %</td>" in page
        assert "Book &lt;shop&gt;</a>" in page
        (failed, tokens) = (
            unescape(href)
            for href in re.findall(rf'href="([^"]*\?q={client.application.pk}[^"]*)">[32]<', page)
        )
        assert (rows(operator, failed), rows(operator, tokens)) == (3, 2)

    def test_each_day_and_each_series_leads_to_its_entries(self, acme, operator):
        write(acme, "Register.Email", days_ago=3)
        write(acme, "User.Create", days_ago=3, number=2)
        write(acme, "User.Create", days_ago=4, payload={"id": "x"})
        day = (timezone.now() - timedelta(days=3)).astimezone(UTC).date()

        page = operator.get("/admin/").text

        heads = (
            '<th scope="col">Created by administrators or applications</th><th scope="col">Registered</th>'
        )
        assert heads in page
        assert f">{day}</a></th><td>2</td><td>1</td>" in page
        (bar,) = re.findall(rf'<th scope="row"><a href="([^"]*)">{day}</a>', page)
        (series,) = re.findall(r'class="series-0"><a href="([^"]*key=User.Create[^"]*)"', page)
        assert (rows(operator, unescape(bar)), rows(operator, unescape(series))) == (3, 3)

    @pytest.mark.parametrize("days", statistics.RANGES)
    def test_is_a_small_page_also_with_full_days(self, acme, operator, days):
        clients = [str(acme.application(name=f"Application {number}").application.pk) for number in range(10)]
        write_full_days(acme, clients, 2 * days)

        page = operator.get("/admin/", params={"days": days})

        assert page.text.count('<figure class="card plot') == 5
        assert page.text.count('<tr><th scope="row">') == (days if days < 90 else 13)
        assert len(page.content) < 53_000  # with the labels of cells for phones

    @pytest.mark.parametrize("days", ["", "8", "x", "-7", "9" * 99])
    def test_an_unknown_range_is_the_usual_one(self, acme, operator, days):
        page = operator.get("/admin/", params={"days": days})

        assert page.status_code == 200
        assert '<a href="?days=30" aria-current="true">' in page.text

    @pytest.mark.parametrize(
        "when", ["2026-13-01", "..", "2026-11-02..2026-11-01", "9999-12-31", "0001-01-01", "x..2026-11-01"]
    )
    def test_the_log_takes_any_days(self, acme, operator, when):
        assert operator.get("/admin/audit/entry/", params={"when": when}).status_code == 200


class TestDays:
    def days(self, world, length=5):
        today = timezone.now().astimezone(UTC).date()
        return daily.get_days(world.tenant.pk, today - timedelta(days=length - 1), today)

    def test_a_day_that_has_ended_is_counted_once(self, acme):
        write(acme, days_ago=3, user_id="a", number=2)

        assert self.days(acme)[3].numbers[0].number == 2
        write(acme, days_ago=3)
        write(acme, number=3)
        again = self.days(acme)

        assert again[3].numbers[0].number == 2
        assert again[3].active_users == 1
        assert again[0].numbers[0].number == 3
        daily.forget(acme.tenant.pk)
        assert self.days(acme)[3].numbers[0].number == 3

    def test_a_long_log_is_counted_in_several_calls_newest_days_first(self, acme, monkeypatch):
        monkeypatch.setattr(daily, "MAX_ENTRIES", 3)
        for days_ago in range(6):
            write(acme, days_ago=days_ago, number=2)

        lengths = [len(self.days(acme, 6)) for _ in range(6)]

        assert lengths == sorted(lengths)
        assert lengths[0] < 5
        assert lengths[-1] == 6
        assert [sum(number.number for number in day.numbers) for day in self.days(acme, 6)] == [2] * 6

    def test_of_a_day_with_very_many_entries_the_newest_are_counted(self, acme, monkeypatch):
        monkeypatch.setattr(daily, "MAX_ENTRIES", 3)
        write(acme, days_ago=2)
        write(acme, days_ago=1, number=5)
        write(acme, days_ago=0, number=4)

        for _ in range(3):
            days = self.days(acme, 3)

        assert [day.is_cut for day in days] == [True, True, False]
        assert days[2].numbers[0].number == 1

    def test_in_the_first_hour_of_a_day_its_entries_do_not_hide_older_days(self, acme, monkeypatch):
        monkeypatch.setattr(daily, "MAX_ENTRIES", 3)
        midnight = timezone.now().replace(hour=0, minute=30)
        monkeypatch.setattr(timezone, "now", lambda: midnight)
        write(acme, days_ago=2)
        write(acme, days_ago=1, number=5)
        write(acme, days_ago=0, number=4)

        days = self.days(acme, 3)

        assert [day.is_cut for day in days] == [True, True, False]
        assert not DayCount.objects.filter(tenant_id=acme.tenant.pk, day__gte=days[1].day).exists()

    def test_applications_beyond_the_most_used_are_counted_together(self, acme):
        for place in range(25):
            write(acme, "Token.Refresh", days_ago=2, application_id=f"client-{place}", number=1 + place)

        numbers = {number.application_id: number.number for number in self.days(acme)[2].numbers}

        assert len(numbers) == 21
        assert numbers["client-24"] == 25
        assert numbers[""] == 1 + 2 + 3 + 4 + 5

    def test_numbers_that_no_page_shows_are_deleted(self, acme):
        today = timezone.now().date()
        for age in (daily.KEPT_DAYS - 2, daily.KEPT_DAYS + 2):
            day = today - timedelta(days=age)
            DayCount.objects.create(
                tenant_id=acme.tenant.pk, day=day, numbers=[], active_users=0, is_cut=False
            )

        daily.delete_old()

        assert DayCount.objects.filter(tenant_id=acme.tenant.pk).count() == 1

    def test_the_statistics_cost_six_statements_once_the_days_are_counted(self, acme, monkeypatch):
        noon = timezone.now().replace(hour=12)  # in its first hour, a day counts the one before it again
        monkeypatch.setattr(timezone, "now", lambda: noon)
        write(acme, days_ago=100)
        with tenancy.using(acme.tenant.to_active()):
            statistics._count(30)
            with CaptureQueriesContext(connection) as captured:
                figures = statistics._count(30)

        assert figures.before is not None
        assert len(captured) <= 6

    def test_the_statistics_survive_the_cache(self, acme):
        write(acme, days_ago=100)
        write(acme, days_ago=1, application_id="x")
        with tenancy.using(acme.tenant.to_active()):
            figures = statistics._count(7)

        assert statistics._from_json(statistics._to_json(figures)) == figures


class TestCharts:
    @pytest.mark.parametrize(
        ("highest", "scale"),
        [
            (0, (1, 1)),
            (1, (1, 1)),
            (4, (1, 4)),
            (5, (2, 6)),
            (23, (10, 30)),
            (1_000_001, (500_000, 1_500_000)),
        ],
    )
    def test_have_round_gridlines(self, highest, scale):
        assert charts._scale(highest) == scale

    def test_a_long_range_has_a_bar_for_each_week(self):
        last = date(2026, 11, 22)
        figures = statistics.Figures(last - timedelta(days=89), last, last)
        spans = figures.spans

        assert len(spans) == 13
        assert spans[-1] == (date(2026, 11, 16), last)
        assert spans[0] == (figures.first, date(2026, 8, 30))
        assert all(begin - end == timedelta(days=1) for (_, end), (begin, _) in pairwise(spans))

    def test_stack_their_series(self):
        day = date(2026, 11, 22)
        chart = charts.build(SUBJECT, [(day, day)], Counter({(day, "a"): 3, (day, "b"): 1}))

        (a, b) = chart.series
        assert (a.name, b.name, chart.total) == ("a", "b", 4)
        assert "v97.5" in a.path
        assert f" {charts.TOP}v" in b.path  # reaches the end of the axis


class TestSubjects:
    def test_of_an_attacked_identifier_only_the_newest_entries_are_read(self, acme, monkeypatch):
        key = {"identifier_key": "k" * 40}
        write(acme, days_ago=2, payload={"username": "ada", "result": "failed"}, **key)
        hashed = write(acme, days_ago=1, payload={"username": "hash:x", "result": "failed"}, number=4, **key)
        reader = operators.administrator()
        with acme.active():
            assert set(entry_subjects.find_subjects(hashed, reader).values()) == {"ada"}

            monkeypatch.setattr(entry_subjects, "_MAX_READ", 4)

            assert "ada" not in set(entry_subjects.find_subjects(hashed, reader).values())


def test_decision_M52_the_users_with_a_second_factor_have_a_card(acme, operator):
    factors.switch_on(acme, "Totp")
    acme.user()
    before = operator.get("/admin/").text
    factors.enrol(acme, acme.user())

    shown = operator.get("/admin/").text

    assert "Users with a second factor" not in before
    assert "Users with a second factor" in shown
    assert "50% of all users" in shown
