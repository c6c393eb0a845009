"""Names and descriptions of what a consent is about, for the pages that show it."""

from uuid import UUID, uuid4

import pytest

from identity.organizations.models import OrganizationPermission
from identity.resources.models import Scope
from oidc.grants import descriptions, scopes_at_apis
from oidc.grants.models import ConsentTarget
from tests.support.grant_rows import new_api, new_organization


def target(scopes: tuple[str, ...], **of: UUID) -> ConsentTarget:
    return ConsentTarget(scopes=list(scopes), **of)


def test_each_target_has_its_own_name_and_descriptions(acme):
    with acme.active():
        payroll, calendar, hospital = new_api(), new_api("Calendar"), new_organization()
        for api, description in ((payroll, "Salaries"), (calendar, "Dates")):
            Scope.objects.create(resource=api, name="read", description=description)
        OrganizationPermission.objects.create(name="see", description="See patients")
        rows = [
            target(("write", "read"), resource_id=payroll.pk),
            target(("read",), resource_id=calendar.pk),
            target(("see", "act"), organization_id=hospital.pk),
        ]

        found = descriptions.describe(rows)

    assert [(found[row.pk].name, found[row.pk].indicator, found[row.pk].scopes) for row in rows] == [
        ("Payroll", "https://payroll.example", [("read", "Salaries"), ("write", "")]),
        ("Calendar", "https://calendar.example", [("read", "Dates")]),
        ("Hospital", "", [("act", ""), ("see", "See patients")]),
    ]


def test_an_api_in_an_organization_has_the_scopes_there_with_descriptions(acme):
    with acme.active():
        payroll, hospital = new_api(), new_organization()
        Scope.objects.create(resource=payroll, name="read", description="See salaries")
        at_api = target(("read", "write", "delete"), resource_id=payroll.pk)
        words = scopes_at_apis.to_words(at_api.pk, ("write", "read"))
        row = target(("see", *words), organization_id=hospital.pk)

        found = descriptions.describe([at_api, row])[row.pk]

    assert found.scopes == [("see", "")]
    assert found.apis == [("Payroll", [("read", "See salaries"), ("write", "")])]


def test_a_target_that_was_just_deleted_is_omitted(acme):
    with acme.active():
        payroll, hospital = new_api(), new_organization()
        kept = [target((), resource_id=payroll.pk), target((), organization_id=hospital.pk)]
        gone = [target((), resource_id=uuid4()), target((), organization_id=uuid4())]

        found = descriptions.describe([*gone, *kept])

    assert found.keys() == {row.pk for row in kept}


@pytest.mark.parametrize(("kinds", "queries"), [("", 0), ("a", 2), ("o", 2), ("ao", 4)])
def test_only_the_kinds_that_occur_are_read(acme, django_assert_num_queries, kinds, queries):
    with acme.active():
        rows = [
            target(("read",), **{"resource_id" if kind == "a" else "organization_id": uuid4()})
            for kind in kinds
        ]

        with django_assert_num_queries(queries):
            descriptions.describe(rows)
