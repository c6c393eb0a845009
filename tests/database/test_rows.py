"""Instances from the rows of compiled statements are those that ``Model.from_db`` makes."""

from functools import partial

import pytest
from django.apps import apps
from django.db import models
from django.db.models.signals import post_init, pre_init

from database import rows
from database.rows import Loader
from identity.sessions.models import Session
from identity.users.models import User
from oidc.grants.models import RefreshFamily

OURS = [
    model
    for model in apps.get_models()
    if model.__module__.partition(".")[0] in {"audit", "identity", "interaction", "management", "oidc"}
]


def described(instance: models.Model) -> tuple[object, ...]:
    state = instance._state
    values = {name: value for name, value in vars(instance).items() if name != "_state"}
    return type(instance), values, state.adding, state.db, state.fields_cache, instance.get_deferred_fields()


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_are_the_same_with_all_fields_and_with_some(model):
    names = [field.attname for field in model._meta.concrete_fields]

    for few in (names, names[::2]):
        values = [object() for _ in few]
        made, expected = (maker.from_db("default", few, values) for maker in (Loader(model), model))
        assert described(made) == described(expected)


@pytest.mark.parametrize("signal", [pre_init, post_init])
def test_a_model_with_a_receiver_is_refused(signal):
    def receive(**_: object) -> None:
        """Change the new instance, perhaps."""

    signal.connect(receive, sender=User)
    try:
        with pytest.raises(TypeError, match="User"):
            Loader(User)
    finally:
        signal.disconnect(receive, sender=User)


@pytest.mark.parametrize("name", ["__init__", "from_db"])
def test_a_model_with_a_maker_of_its_own_is_refused(name, monkeypatch):
    monkeypatch.setattr(RefreshFamily, name, lambda *_: None)

    with pytest.raises(TypeError, match="RefreshFamily"):
        Loader(RefreshFamily)


class TestNew:
    @pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
    def test_has_the_values_that_are_given_and_the_defaults_of_the_others(self, model, acme):
        values = {field.attname: object() for field in model._meta.concrete_fields}
        half = dict(list(values.items())[::2])

        with acme.active():
            assert described(rows.new(model, **values)) == described(model(**values))
            made, expected = (vars(maker(**half)) for maker in (partial(rows.new, model), model))

        assert [*made] == [name for name in expected if name != "_state"] + ["_state"]
        differing = {name for name in made if type(made[name]) is not type(expected[name])}
        assert differing == set()
        assert {name: made[name] for name in half} == half

    def test_keeps_the_rows_that_it_refers_to(self, acme):
        with acme.active():
            user = User()
            made, expected = rows.new(Session, pk=user.pk, user=user), Session(pk=user.pk, user=user)

        assert made.user is user
        assert (made.pk, made.user_id) == (expected.pk, expected.user_id) == (user.pk, user.pk)
        assert made._state.fields_cache == expected._state.fields_cache

    def test_refuses_a_name_that_is_no_column(self, acme):
        with acme.active(), pytest.raises(KeyError, match="pet"):
            rows.new(User, pet="Rex")
