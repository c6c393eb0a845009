"""What the operators' site takes in query strings (AP01, AP03): what its lists declare, and nothing else.

The walks are made from the registry of the site: a new model, column or filter is walked unasked.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import httpx
import pytest
from django.contrib.admin import FieldListFilter
from django.core.exceptions import BadRequest
from django.db import models
from django.test import Client, RequestFactory

from identity.operator_kit import lists
from tests.support import operators
from tests.support.operators import address_of, administrator, pages, text_of

# Every lookup that Django knows, and every transform of dates, with a value that it takes.
_LOOKUPS = {
    "": "x", "exact": "x", "iexact": "x", "contains": "x", "icontains": "x", "in": "x,y", "gt": "1",
    "gte": "1", "lt": "1", "lte": "1", "startswith": "x", "istartswith": "x", "endswith": "x",
    "iendswith": "x",
    "range": "1,2", "date": "2026-01-01", "year": "2026", "iso_year": "2026", "month": "1", "day": "1",
    "week": "1", "week_day": "1", "iso_week_day": "1", "quarter": "1", "time": "10:00", "hour": "1",
    "minute": "1", "second": "1", "isnull": "True", "regex": "^x", "iregex": "^x", "has_key": "x",
    "contained_by": "{}", "year__gt": "2026", "x__regex": "^x", "0": "x", "a__b__startswith": "x",
}  # fmt: skip
_BEYOND = ("id", "pk", "name", "slug", "username", "password", "search_text")


def columns(model: type[models.Model]) -> Iterator[str]:
    """Every column and relation of a model, and columns of what it is related to."""
    yield "pk"
    for field in model._meta.get_fields():
        yield field.name
        if isinstance(field, models.Field) and field.attname != field.name:
            yield field.attname
        if field.is_relation:
            yield from (f"{field.name}__{name}" for name in _BEYOND)


def declared(kind: Any) -> set[str]:
    """The parameters that the filters of a list use, as Django's own filters say."""
    found: set[str] = set()
    for one in kind.list_filter:
        if isinstance(one, str):
            field = kind.model._meta.get_field(one)
            made = FieldListFilter.create(
                field, RequestFactory().get("/"), {}, kind.model, kind, field_path=one
            )
            found |= {name for name in made.expected_parameters() if name}
        else:
            found.add(one.parameter_name)
    return found


def asked(kind: Any) -> list[tuple[str, str]]:
    """Every question about every column of a kind of row that no filter of its list asks."""
    known = declared(kind)
    every = [
        (f"{column}__{lookup}".removesuffix("__"), value)
        for column in columns(kind.model)
        for lookup, value in _LOOKUPS.items()
    ]
    return [(name, value) for name, value in every if name not in known]


@pytest.fixture(scope="module")
def signed_in(address: str) -> dict[str, Any]:
    """A tenant, and the cookies of an auditor of it and of one of everything."""
    world = operators.cast.new_world("Asked")
    limited = operators.at(world, administrator(role="auditor", tenants=[world.tenant.slug]))
    everything = operators.at(world, administrator(role="auditor", is_superuser=True))
    cookies = {"auditor": dict(limited.http.cookies), "superuser-auditor": dict(everything.http.cookies)}
    return {"world": world, "cookies": cookies}


@pytest.fixture
def auditors(signed_in: Any, address: str) -> Iterator[dict[str, Any]]:
    """The tenant, and a browser of each of them."""
    found = {
        role: httpx.Client(base_url=address, cookies=held) for role, held in signed_in["cookies"].items()
    }
    yield {"world": signed_in["world"], **found}
    for browser in found.values():
        browser.close()


@pytest.mark.parametrize("kind", pages(), ids=lambda kind: kind.opts.label_lower)
def test_attack_AP01_no_look_up_asks_about_a_column(kind: Any) -> None:
    questions = asked(kind)
    assert len(questions) > len(_LOOKUPS)

    taken = [question for question in questions if _is_taken(kind, question)]

    assert taken == []


@pytest.mark.parametrize("role", ["auditor", "superuser-auditor"])
@pytest.mark.parametrize("kind", pages(), ids=lambda kind: kind.opts.label_lower)
def test_attack_AP01_no_query_string_asks_about_a_column(auditors: Any, kind: Any, role: str) -> None:
    every = asked(kind)
    # One of each column, with another look-up each: what is the same for all is walked above.
    some = {name.partition("__")[0]: (name, value) for name, value in every[:: len(_LOOKUPS) + 1]}

    answers = _ask(auditors[role], address_of(kind), list(some.values()))

    assert [question for question, status in answers if status != 400] == []


def test_attack_AP01_the_log_is_exported_with_its_own_filters_alone(auditors: Any) -> None:
    kind = next(kind for kind in pages() if kind.opts.model_name == "entry")
    questions = asked(kind)[:: len(_LOOKUPS) + 1]

    answers = _ask(auditors["superuser-auditor"], f"{address_of(kind)}export/", questions)

    assert [question for question, status in answers if status != 400] == []


def test_attack_AP01_an_auditor_reads_no_hash_of_a_password_bit_by_bit(auditors: Any) -> None:
    user = auditors["world"].user()
    path = f"/admin/users/user/?q={user.username}"

    right = auditors["auditor"].get(f"{path}&password__startswith=argon2$argon2id")
    wrong = auditors["auditor"].get(f"{path}&password__startswith=zzz")

    assert (right.status_code, wrong.status_code) == (400, 400)


def test_attack_AP01_nor_does_an_auditor_of_everything_read_that_of_a_superuser(auditors: Any) -> None:
    root = administrator()
    path = f"/admin/administrators/administrator/?q={root.username}"

    answer = auditors["superuser-auditor"].get(f"{path}&password__regex=^argon2")

    assert answer.status_code == 400


@pytest.mark.parametrize(
    "path",
    [
        "/admin/users/user/?_to_field=password",
        "/admin/users/user/?_popup=1",
        "/admin/users/user/?_facets=1",
        "/admin/users/user/?e=1",
        "/admin/users/user/?nothing=we+know",
        "/admin/connectors/connector/?sealed_config__startswith=a",
        "/admin/keys/signingkey/?sealed_private_key__regex=a",
        "/admin/identity_sessions/session/?token_hash__gt=a",
        "/admin/experience/signinexperience/?branding__x=1",
    ],
)
def test_attack_AP01_parameters_that_no_list_declares_are_refused(auditors: Any, path: str) -> None:
    assert auditors["superuser-auditor"].get(path).status_code == 400


def test_attack_AP01_nothing_completes_what_is_typed(auditors: Any) -> None:
    query = "?app_label=users&model_name=user&field_name=password&term=a"

    assert auditors["superuser-auditor"].get(f"/admin/autocomplete/{query}").status_code == 404


def test_attack_AP03_one_question_never_stops_a_worker(auditors: Any) -> None:
    auditors["world"].user(name="a" * 40)

    answer = auditors["auditor"].get("/admin/users/user/?name__regex=^(a|a)*$b|^(a|a)*c", timeout=10)

    assert answer.status_code == 400


@pytest.mark.parametrize("kind", pages(), ids=lambda kind: kind.opts.label_lower)
def test_attack_AP03_values_that_no_filter_can_use_are_no_failure(auditors: Any, kind: Any) -> None:
    hostile = (
        "(", "a\0b", "9" * 400, "-1", "0001-01-01T00:00:00+23:59", "9999-12-31",
        "9999-12-31T23:59:59-23:59", "2026-13-45", "\ud800".encode(errors="surrogatepass"), "nan",
        "'", "{}", "a" * 2000,
    )  # fmt: skip
    names = [*declared(kind), "q", "o", "p", "all"]

    answers = _ask(
        auditors["superuser-auditor"],
        address_of(kind),
        [(name, value) for name in names for value in hostile],
    )

    assert [(question, status) for question, status in answers if status >= 500] == []


def test_attack_AP03_a_query_string_with_nul_is_refused(auditors: Any) -> None:
    paths = (
        "/admin/", "/admin/login/", "/admin/tenant/", "/admin/why/", "/admin/password/", "/admin/two-step/",
        "/admin/audit/entry/export/", "/admin/users/user/", "/admin/users/user/do/create/",
    )  # fmt: skip
    queries = ("username=%00", "%00=1", "q=a%00b", "reference=%00", "next=/%00")

    answers = {
        (path, query): auditors["superuser-auditor"].get(f"{path}?{query}").status_code
        for path in paths
        for query in queries
    }

    assert {where: status for where, status in answers.items() if status != 400} == {}


def test_a_page_past_the_end_and_a_filter_that_holds_nothing_say_so(auditors: Any) -> None:
    operator = auditors["auditor"]

    assert operator.get("/admin/users/user/?p=99").status_code == 200  # it has one page
    assert operator.get("/admin/users/user/?is_suspended__exact=maybe").status_code == 400
    assert operator.get("/admin/users/user/?is_suspended__exact=1&o=-2.1&q=x&all=").status_code == 200


def test_the_links_of_every_list_are_taken(auditors: Any) -> None:
    operator = auditors["superuser-auditor"]
    for kind in pages():
        path = address_of(kind)
        found = set(re.findall(r'href="(\?[^"]*)"', text_of(operator.get(path))))
        refused = [link for link in found if operator.get(path + unescape(link)).status_code != 200]
        assert refused == [], path


def _is_taken(kind: Any, question: tuple[str, str]) -> bool:
    name, value = question
    try:
        lists.check_list_query(kind, RequestFactory().get("/", {name: value}))
    except BadRequest:
        return False
    return True


def _ask(operator: Any, path: str, questions: list[tuple[str, Any]]) -> list[tuple[tuple[str, Any], int]]:
    """Send questions one by one, in this process: there are thousands."""
    client = Client(raise_request_exception=False)
    for cookie in operator.cookies.jar:
        client.cookies[cookie.name] = cookie.value
    return [((name, value), client.get(path, {name: value}).status_code) for name, value in questions]
