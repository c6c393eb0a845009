"""The time zone of an administrator: what the operators' site shows in it, and what stays in UTC."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import Entry
from identity.operator_kit import timestamps
from identity.users.models import User
from management.administrators import time_zones
from tests.support import in_process, operators
from tests.support.admin_pages import operate
from tests.support.management import result_of

PAGE = "/admin/preferences/"
LOG = "/admin/audit/entry/"


def choose(operator, name):
    answer = operator.submit(PAGE, time_zone=name)
    assert answer.status_code == 303, answer.text
    return operator.get(answer.headers["Location"]).text


def write(world, moment, **columns):
    return Entry.objects.create(
        tenant_id=world.tenant.pk, key="SignIn.Password", payload={"result": "success"}, created_at=moment,
        **columns,
    )  # fmt: skip


def shown(page):
    """The times of a page: for machines and for readers."""
    return re.findall(r'<time datetime="([^"]*)">([^<]*)</time>', page)


class TestItsPage:
    def test_has_the_zones_by_region_and_says_what_is_chosen(self, acme, operator):
        before = operator.get(PAGE).text
        after = choose(operator, "America/Argentina/Buenos_Aires")

        regions = re.findall(r'<optgroup label="([^"]*)">', before)
        assert regions == sorted(regions)
        assert {"Africa", "America", "Asia", "Europe", "Pacific"} <= set(regions)
        assert '<option value="" selected>UTC</option>' in before
        chosen = '<option value="America/Argentina/Buenos_Aires" selected>Argentina/Buenos Aires</option>'
        assert chosen in after
        assert "Your language and time zone are saved." in after
        assert len(after) < 50_000

    def test_is_for_oneself_and_is_logged(self, acme, operator):
        other = operators.at(acme)
        choose(operator, "Europe/Berlin")

        operator.who.refresh_from_db()
        other.who.refresh_from_db()
        (entry,) = Entry.objects.filter(key="Administrator.Update", payload__id=operator.who.pk)

        assert (operator.who.time_zone, other.who.time_zone) == ("Europe/Berlin", "")
        assert entry.payload["fields"] == ["time_zone"]
        assert entry.payload["administrator_id"] == operator.who.pk

    def test_goes_back_to_utc(self, acme, operator):
        acme.user("ada")
        choose(operator, "Asia/Tokyo")
        choose(operator, "")

        (_, text) = shown(operator.get("/admin/users/user/").text)[0]
        assert text.endswith(" UTC")

    @pytest.mark.parametrize("name", ["Mars/Base", "Etc/GMT+3", "europe/berlin", "../passwd", "x" * 99])
    def test_refuses_what_is_no_zone(self, acme, operator, name):
        answer = operator.submit(PAGE, time_zone=name)

        operator.who.refresh_from_db()
        assert answer.status_code == 400
        assert "is not one of the available choices" in answer.text
        assert operator.who.time_zone == ""

    def test_auditors_choose_one_too(self, acme):
        auditor = operators.at(acme, operators.administrator(role="auditor"))

        assert "Your language and time zone are saved." in choose(auditor, "Europe/Paris")


class TestTimes:
    def test_are_shown_in_it_on_lists_and_on_pages(self, acme, operator):
        ada = acme.user("ada")
        moment = datetime(2026, 1, 15, 23, 30, 5, tzinfo=UTC)
        with acme.active():
            User.objects.filter(pk=ada.pk).update(created_at=moment, updated_at=moment)
        expected = ("2026-01-15T23:30:05Z", "2026-01-16 00:30:05 CET")
        choose(operator, "Europe/Berlin")

        lists = operator.get("/admin/users/user/").text
        page = operator.get(f"/admin/users/user/{ada.pk}/change/").text

        assert expected in shown(lists)
        assert expected in shown(page)
        assert "(UTC)" not in lists + page

    def test_are_shown_in_it_in_sentences(self, acme, operator):
        ada = acme.user("ada")
        operate(operator, "users/user", ada, "suspend")
        choose(operator, "Asia/Kolkata")

        page = operator.get(f"/admin/users/user/{ada.pk}/change/").text

        assert re.search(r"Since [-0-9]+ [:0-9]+ IST, by administrator", page)
        assert " UTC" not in page

    def test_are_in_utc_in_csv_and_in_the_api(self, acme, operator, admin):
        write(acme, datetime(2026, 1, 15, 23, 30, tzinfo=UTC), ip="192.0.2.7")
        choose(operator, "Asia/Tokyo")

        csv = operator.get(f"{LOG}export/", params={"when": "all", "q": "192.0.2.7"}).text
        (entry,) = [
            one for one in result_of(admin.get("/logs", page_size=100))["data"] if one["ip"] == "192.0.2.7"
        ]

        assert '"2026-01-15T23:30:00+00:00"' in csv
        assert entry["created_at"].startswith("2026-01-15T23:30:00")
        assert entry["created_at"].endswith("Z")

    @pytest.mark.parametrize(
        ("moment", "text"),
        [
            # Berlin: clocks go forward at 01:00 UTC on 29 March 2026, and back at 01:00 UTC on 25 October.
            (datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC), "2026-03-29 01:59:59 CET"),
            (datetime(2026, 3, 29, 1, 0, tzinfo=UTC), "2026-03-29 03:00:00 CEST"),
            (datetime(2026, 10, 25, 0, 30, tzinfo=UTC), "2026-10-25 02:30:00 CEST"),
            (datetime(2026, 10, 25, 1, 30, tzinfo=UTC), "2026-10-25 02:30:00 CET"),
        ],
    )
    def test_have_the_abbreviation_of_their_part_of_the_year(self, moment, text):
        with timezone.override(time_zones.find("Europe/Berlin")):
            assert timestamps.format_text(moment) == text

    def test_have_an_offset_if_the_zone_has_no_abbreviation(self):
        with timezone.override(time_zones.find("America/Sao_Paulo")):
            text = timestamps.format_text(datetime(2026, 5, 1, 12, tzinfo=UTC))

        assert text == "2026-05-01 09:00:00 UTC-03"

    def test_of_a_zone_that_the_machine_does_not_know_are_in_utc(self, acme, operator):
        acme.user("ada")
        type(operator.who).objects.filter(pk=operator.who.pk).update(time_zone="Europe/Atlantis")

        page = operator.get("/admin/users/user/")

        assert page.status_code == 200
        assert shown(page.text)[0][1].endswith(" UTC")

    def test_cost_no_statement(self, acme, operator):
        acme.user("ada")
        inside = in_process.new_client()
        inside.base_url, inside.cookies = operator.http.base_url, operator.http.cookies
        numbers = []
        for name in ("", "Europe/Berlin"):
            choose(operator, name)
            with CaptureQueriesContext(connection) as queries:
                assert inside.get("/admin/users/user/").status_code == 200
            numbers.append(len(queries))

        assert numbers[0] == numbers[1] > 0


class TestDaysOfTheLog:
    def found(self, operator, **query):
        page = operator.get(LOG, params=query).text
        return page.count('class="field-key'), page

    @pytest.mark.parametrize(
        ("day", "hours"),
        [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 7, 1), 24)],
    )
    def test_begin_and_end_in_it_also_when_clocks_change(self, acme, operator, day, hours):
        zone = time_zones.find("Europe/Berlin")
        begin = datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)
        end = begin + timedelta(hours=hours)
        second = timedelta(seconds=1)
        for moment in (begin - second, begin, begin + timedelta(hours=2), end - second, end):
            write(acme, moment)
        choose(operator, "Europe/Berlin")

        number, page = self.found(operator, when=str(day), key="sign-ins")

        assert number == 3
        assert f"<strong>{day.day} {day:%b %Y}</strong>" in page

    def test_of_utc_stay_days_of_utc(self, acme, operator):
        for hour in (0, 12, 23):
            write(acme, datetime(2026, 7, 1, hour, 30, tzinfo=UTC))
        choose(operator, "Asia/Tokyo")

        in_utc, page = self.found(operator, when="2026-07-01Z", key="sign-ins")
        in_tokyo, _ = self.found(operator, when="2026-07-01", key="sign-ins")

        assert (in_utc, in_tokyo) == (3, 2)
        assert "<strong>1 Jul 2026 (UTC)</strong>" in page

    def test_that_the_dashboard_counts_are_those_that_its_links_find(self, acme, operator):
        today = timezone.now().astimezone(UTC)
        write(acme, today.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1))
        choose(operator, "Pacific/Auckland")

        page = operator.get("/admin/?days=7").text
        day = (today - timedelta(days=1)).date()
        (bar,) = set(re.findall(rf'<th scope="row"><a href="([^"]*)">{day}</a>', page))

        assert operator.get(bar.replace("&amp;", "&")).text.count('class="field-key') == 1

    @pytest.mark.parametrize("when", ["0001-01-01", "0001-01-02", "9999-12-30", "9999-12-31", "2026-07-01Zz"])
    @pytest.mark.parametrize("name", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
    def test_at_the_ends_of_the_calendar_are_no_error(self, acme, operator, when, name):
        choose(operator, name)

        assert operator.get(LOG, params={"when": when}).status_code == 200
