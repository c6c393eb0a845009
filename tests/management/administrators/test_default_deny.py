"""A view that says nothing is open to nobody, and only administrators make administrators."""

import json
import secrets

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings as configured
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.models import Entry
from identity.core.errors import Invalid
from management.administrators import services as administrators
from management.administrators import tokens
from management.administrators.models import Administrator
from management.seeding import bootstrap
from tests.support import cast
from tests.support.administrator_tokens import ME, forged, is_unknown, me
from tests.support.cast import PASSWORD
from tests.support.independent import bearer


class Guarded(APIView):
    """A view that says nothing of who may come in."""

    def get(self, request):
        return Response({"caller": request.user.username})


class TestTheDefaultIsToDeny:
    """A tenant-limited administrator, at a view of the management API."""

    def ask(self, world, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with world.active():
            answer = Guarded.as_view()(RequestFactory().get("/api/v1/things", headers=headers))
            return answer.render()

    def test_decision_T5_manages_the_tenants_of_the_list(self, acme, rival):
        limited = administrators.create(username=f"b-{secrets.token_hex(4)}", password=PASSWORD)
        limited.tenants.add(acme.tenant)
        token = tokens.issue(limited)

        inside, outside = self.ask(acme, token), self.ask(rival, token)

        assert (inside.status_code, json.loads(inside.content)["code"]) == (200, 0)
        assert outside.status_code == 403
        assert json.loads(outside.content) == {
            "code": 403,
            "message": "you may not manage this tenant",
            "result": "",
        }

    def test_decision_T5_nor_the_root_unless_it_is_listed(self, acme):
        limited = administrators.create(username=f"b-{secrets.token_hex(4)}", password=PASSWORD)
        limited.tenants.add(acme.tenant)

        assert self.ask(cast.default_world(), tokens.issue(limited)).status_code == 403

    def test_decision_T5_a_tenant_taken_away_counts_at_once(self, acme):
        limited = administrators.create(username=f"b-{secrets.token_hex(4)}", password=PASSWORD)
        limited.tenants.add(acme.tenant)
        token = tokens.issue(limited)
        assert self.ask(acme, token).status_code == 200

        limited.tenants.clear()

        assert self.ask(acme, token).status_code == 403

    def test_a_superuser_manages_all(self, acme, rival, token):
        for world in (acme, rival, cast.default_world()):
            assert self.ask(world, token).status_code == 200

    def test_nobody_is_401(self, acme):
        answer = self.ask(acme)

        assert answer.status_code == 401
        assert json.loads(answer.content)["code"] == 401
        assert answer["WWW-Authenticate"].startswith("Bearer")

    def test_costs_one_query_for_a_superuser(self, acme, token):
        browser = Client()
        browser.get(ME, headers=bearer(token))

        with CaptureQueriesContext(connection) as queries:
            browser.get(ME, headers=bearer(token))

        # The administrator, and the slugs that `me` shows.
        assert len(queries) == 2


class TestCreate:
    @pytest.mark.parametrize(
        ("fields", "field"),
        [
            ({"username": ""}, "username"),
            ({"username": "a b"}, "username"),
            ({"username": "x" * 129}, "username"),
            ({"password": "12345"}, "password"),
            ({"password": "x" * 257}, "password"),
            ({"email": "nonsense"}, "email"),
        ],
    )
    def test_refuses_what_breaks_a_rule(self, address, fields, field):
        before = Administrator.objects.count()

        with pytest.raises(Invalid) as refusal:
            administrators.create(**({"username": "fitting-name", "password": PASSWORD} | fields))

        assert refusal.value.field == field
        assert Administrator.objects.count() == before

    def test_a_name_is_taken_once(self, administrator):
        before = Entry.objects.filter(key="Administrator.Create").count()

        with pytest.raises(Invalid, match="username: already exists"):
            administrators.create(username=administrator.username, password=PASSWORD)

        assert Entry.objects.filter(key="Administrator.Create").count() == before

    def test_case_K16_bootstrap_does_nothing_where_there_is_one(self, administrator):
        before = list(Administrator.objects.order_by("pk").values_list("pk", "password"))

        made = bootstrap.prepare()

        assert (made.created_tenant, made.created_administrator) == (False, False)
        assert list(Administrator.objects.order_by("pk").values_list("pk", "password")) == before

    def test_is_no_staff_by_a_field_of_an_end_user(self, acme):
        user = acme.user()

        assert not hasattr(user, "is_staff")
        assert not hasattr(user, "is_superuser")
        assert configured.AUTH_USER_MODEL == "administrators.Administrator"

    def test_an_elliptic_key_is_no_secret_of_administrators(self, token):
        """The classic confusion: with the algorithm of the header, the wrong kind of key verifies it."""
        stranger = ec.generate_private_key(ec.SECP256R1())

        is_unknown(me(forged(token, stranger, "ES256")))
