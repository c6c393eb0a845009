"""The case book, letter N: the order, the clock and the growth of the log."""

import re
import time
from datetime import timedelta

import pytest
import time_machine

from audit.models import Entry
from identity.core import tenancy
from interaction.verification.models import VerificationCode
from tests.support import codes
from tests.support.in_process import InProcessWorld
from tests.support.management import result_of


def test_case_N06_pages_hold_every_entry_once_though_times_are_equal(acme, admin):
    with tenancy.using(acme.tenant.to_active()):
        moment = Entry.objects.latest("created_at").created_at
        Entry.objects.bulk_create(
            Entry(tenant_id=acme.tenant.pk, key="User.Update", payload={"number": number}, created_at=moment)
            for number in range(60)
        )

    first = result_of(admin.get("/logs", page=1, page_size=20, key="User.Update"))
    pages = [result_of(admin.get("/logs", page=page, page_size=20, key="User.Update")) for page in (1, 2, 3)]

    found = [row["id"] for page in pages for row in page["data"]]
    assert first["total"] == 60
    assert first == pages[0]
    assert len(found) == len(set(found)) == 60


@pytest.mark.parametrize("minutes", [10, -10])
def test_case_N07_a_node_whose_clock_is_wrong_keeps_codes_by_the_databases(acme, minutes):
    here = InProcessWorld.of(codes.reachable(acme))
    email, browser = codes.new_email(), here.browser()
    here.user(email=email)

    with time_machine.travel(time.time() + minutes * 60, tick=True):
        codes.send(browser, email)
    with here.active():
        code = VerificationCode.objects.get()
        left = VerificationCode.objects.filter(pk=code.pk).live().count()
        entry = Entry.objects.filter(key__startswith="VerificationCode").latest("created_at")

    assert left == 1, "five minutes by the clock of the database"
    assert abs(code.expires_at.timestamp() - time.time() - 300) < 60
    assert abs(entry.created_at.timestamp() - time.time()) < timedelta(minutes=1).total_seconds()


def test_case_N08_every_time_is_utc_to_the_millisecond(acme, admin):
    user = acme.user()
    acme.browser().sign_in(user)

    answers = [admin.get(path) for path in ("/users", "/logs", "/applications", "/organizations", "/roles")]

    for answer in answers:
        for name, value in re.findall(r'"(\w+_at)":("[^"]*"|null)', answer.text):
            assert value == "null" or re.fullmatch(r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"', value), name
