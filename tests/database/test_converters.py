"""Columns that compiled statements read are converted as Django converts them."""

import pytest

from identity.core.tenant_statements import Select, SelectValues, uuid
from identity.users.models import User

ROW = Select(lambda: User.objects.filter(pk=uuid("pk"))[:1])
VALUES = SelectValues(lambda: User.objects.filter(pk=uuid("pk")).values_list("custom_data", "created_at"))


@pytest.mark.parametrize(
    "value",
    [{}, [], None, True, 0, -1.5, 1e300, 2**53 + 1, 10**30, "", ' ü \u2028 \\ " \t', [{"a": [None, {}]}]],
    ids=repr,
)
def test_json_is_what_the_orm_reads(acme, value):
    user = acme.user()
    with acme.active():
        User.objects.filter(pk=user.pk).update(custom_data={"value": value})
        expected = User.objects.get(pk=user.pk)

        row, [values] = ROW.first(pk=user.pk), VALUES.all(pk=user.pk)

    assert row is not None
    assert repr(row.custom_data) == repr(expected.custom_data)
    assert [repr(each) for each in values] == [repr(expected.custom_data), repr(expected.created_at)]
