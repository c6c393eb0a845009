"""What operators do goes through the services."""

import re
from datetime import timedelta

from django.utils import timezone

from audit import retention
from audit.models import Entry
from identity.sessions import services as sessions
from identity.sessions.models import UNKNOWN_AUTH_TIME
from identity.tenants.models import Tenant
from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.connectors.messages import Message
from interaction.connectors.models import Connector
from interaction.experience.forms import MESSAGES
from interaction.experience.models import SignInExperience
from interaction.verification import outgoing
from interaction.verification.models import OutgoingMessage
from management.administrators.models import Administrator
from oidc.applications.models import Application
from oidc.keys.models import SigningKey
from tests.support import operators
from tests.support.admin_pages import operate
from tests.support.cast import PASSWORD


def entries(world, key):
    return list(Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("created_at", "id"))


def test_walks_over_all_operations_leave_out_no_message():
    """They have the forms of two languages for each, which are as those of the others."""
    kinds = operators.pages()
    every = {one.name for kind in kinds for one in kind.catalogue.all()}
    walked = {one.name for kind in kinds for one in operators.operations(kind)}
    messages = tuple(f"message-{key.purpose}-{key.channel}-" for key in MESSAGES)

    assert {f"{message}{language}" for message in messages for language in ("any", "ar")} <= walked
    assert [name for name in every - walked if not name.startswith(messages)] == []


class TestOperations:
    def test_suspending_ends_sessions_and_names_who_did_it(self, acme, operator):
        user = acme.user()
        with acme.active():
            sessions.start(user, amr=["pwd"])

        answer = operate(operator, "users/user", user, "suspend")

        with acme.active():
            assert answer.status_code == 303
            assert User.objects.get(pk=user.pk).is_suspended
            assert not user.sessions.live().exists()
        entry = entries(acme, "User.Update")[-1]
        assert entry.payload["administrator_id"] == operator.who.pk
        assert entry.payload["fields"] == ["is_suspended"]

    def test_nothing_happens_before_it_is_confirmed_or_without_the_form_s_token(self, acme, operator):
        user = acme.user()
        path = f"/admin/users/user/{user.pk}/do/delete/"

        operator.get(path)
        forged = operator.http.post(path, data={})

        assert forged.status_code == 403
        with acme.active():
            assert User.objects.filter(pk=user.pk).exists()

    def test_a_password_is_checked_by_the_service_and_never_shown_again(self, acme, operator):
        user = acme.user()

        refused = operate(operator, "users/user", user, "password", password="short")
        done = operate(operator, "users/user", user, "password", password="quite long enough")

        assert refused.status_code == 400
        assert "must have 6 to 256 characters" in refused.text
        assert 'value="short"' not in refused.text
        assert done.status_code == 303
        assert acme.browser().sign_in(user, "quite long enough").status_code == 200

    def test_an_edit_of_what_somebody_else_changed_meanwhile_is_refused(self, acme, operator):
        user = acme.user()
        path = f"/admin/users/user/{user.pk}/do/change/"
        operator_page = operator.get(path).text
        (token, *_) = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', operator_page)
        operate(operators.at(acme), "users/user", user, "suspend")

        sent = {"csrfmiddlewaretoken": token, "drawn_for": operator.tenant, "version": "1", "name": "Eve"}
        answer = operator.http.post(path, data=sent)

        assert answer.status_code == 412
        assert "the resource was changed since you read it" in answer.text

    def test_a_tenant_is_told_how_long_to_keep_its_log(self, acme, operator):
        refused = operate(
            operator, "tenants/tenant", acme.tenant, "change", name="Acme", audit_retention_days="0"
        )
        operate(operator, "tenants/tenant", acme.tenant, "change", name="Acme 2", audit_retention_days="90")
        shown = operator.get(f"/admin/tenants/tenant/{acme.tenant.pk}/change/").text
        kept = retention.get_days(acme.tenant.pk)
        acme.tenant.refresh_from_db()
        operate(operator, "tenants/tenant", acme.tenant, "change", name="Acme 2", audit_retention_days="")

        assert refused.status_code == 400
        assert (acme.tenant.name, kept) == ("Acme 2", 90)
        assert "Kept for 90 days" in shown
        assert retention.get_days(acme.tenant.pk) is None

    def test_all_sessions_of_a_person_end(self, acme, operator):
        user = acme.user()
        with acme.active():
            for _ in range(2):
                sessions.start(user, amr=["pwd"])

        operate(operator, "users/user", user, "end-sessions")

        with acme.active():
            assert not user.sessions.live().exists()
        assert entries(acme, "Session.End")[-1].payload["count"] == 2

    def test_a_sign_in_that_a_provider_did_not_date_has_an_unknown_time(self, acme, operator):
        user = acme.user()
        with acme.active():
            session, _ = sessions.start(user, amr=[], auth_time=UNKNOWN_AUTH_TIME)

        for path in (
            "identity_sessions/session/",
            f"identity_sessions/session/{session.pk}/change/",
            f"users/user/{user.pk}/change/",
        ):
            page = operator.get(f"/admin/{path}").text
            assert "Unknown" in page
            assert "1970" not in page

    def test_a_new_secret_is_shown_once_and_works(self, acme, operator):
        client = acme.application("MachineToMachine")

        sent = operate(operator, "applications/application", client.application, "secret")
        answer = operator.get(sent.headers["Location"])

        (secret,) = re.findall(r'id="once-2"[^>]*value="([^"]+)"', answer.text)
        assert "no-store" in answer.headers["Cache-Control"]
        assert client.token(grant_type="client_credentials").status_code == 401
        assert (
            client.token(grant_type="client_credentials", auth=(client.client_id, secret)).status_code == 200
        )
        assert (
            secret
            not in operator.get(f"/admin/applications/application/{client.application.pk}/change/").text
        )
        assert secret not in str([entry.payload for entry in entries(acme, "Application.Update")])

    def test_an_application_is_registered_by_the_rules_of_its_type(self, acme, operator):
        path = "applications/application"
        typed = {"name": "Shop", "type": "Traditional"}

        refused = operate(operator, path, None, "create", **typed, redirect_uris="https://shop.example/#x")
        made = operate(operator, path, None, "create", **typed, redirect_uris="https://shop.example/cb")

        assert refused.status_code == 400
        assert made.status_code == 303
        with acme.active():
            assert Application.objects.get(name="Shop").redirect_uris == ["https://shop.example/cb"]

    def test_signing_keys_are_prepared_and_rotated_and_the_active_one_stays(self, acme, operator):
        operate(operator, "keys/signingkey", None, "prepare")
        with acme.active():
            waiting, old = SigningKey.objects.next().get(), SigningKey.objects.active().get()

        operate(operator, "keys/signingkey", None, "rotate")

        with acme.active():
            active = SigningKey.objects.active().get()
        assert active.pk == waiting.pk
        refused = operator.get(f"/admin/keys/signingkey/{active.pk}/do/delete/")
        operate(operator, "keys/signingkey", old, "delete")
        with acme.active():
            assert refused.status_code == 302
            assert [key.pk for key in SigningKey.objects.all()] == [active.pk]

    def test_connectors_are_switched_and_tested(self, acme, operator):
        with acme.active():
            connector = connectors.create(
                connector_id="outbox-email", type="Email", config={}, is_proven=True
            )

        operate(operator, "connectors/connector", connector, "enable")
        nobody = operate(operator, "connectors/connector", connector, "test")
        sent = operate(operator, "connectors/connector", connector, "test", to="ada@acme.example")

        with acme.active():
            assert Connector.objects.get(pk=connector.pk).enabled
        assert nobody.status_code == 400
        assert "is required: your own account has no" in nobody.text
        assert sent.status_code == 303

    def test_the_look_is_checked_as_by_the_api(self, acme, operator):
        with acme.active():
            row = SignInExperience.objects.get()
        kind = "experience/signinexperience"

        refused = operate(operator, kind, row, "look", primary_color="red", logo_url="http://x.example/l.png")
        done = operate(operator, kind, row, "look", primary_color="#0a84ff")

        assert refused.status_code == 400
        assert "must be a colour like #0a84ff" in refused.text
        assert done.status_code == 303
        with acme.active():
            assert SignInExperience.objects.get().branding["primary_color"] == "#0a84ff"

    def test_messages_are_erased_and_sent_anew(self, acme, operator):
        with acme.active():
            outgoing.enqueue(
                Message(channel="email", to="a@b.example", interaction_type="test", code="", body="x")
            )
            OutgoingMessage.objects.update(due_at=timezone.now() + timedelta(hours=1))
            row = OutgoingMessage.objects.get()

        operate(operator, "verification/outgoingmessage", row, "drop")
        gone = operator.get(f"/admin/verification/outgoingmessage/{row.pk}/do/retry/")

        assert gone.status_code == 404
        assert entries(acme, "Message.Drop")[0].payload["message_id"] == str(row.pk)

    def test_tenants_are_made_and_deleted_by_their_slug(self, acme, operator):
        path, slug = "tenants/tenant", f"made-{operator.who.pk}"

        operate(operator, path, None, "create", slug=slug, name="Made")
        made = Tenant.objects.get(slug=slug)
        refused = operate(operator, path, made, "delete", slug="another")
        operate(operator, path, made, "delete", slug=slug)

        assert refused.status_code == 400
        assert not Tenant.objects.filter(slug=slug).exists()
        assert Entry.objects.filter(key="Tenant.Delete", payload__slug=slug, tenant_id="default").exists()

    def test_administrators_are_made_changed_and_deleted(self, acme, operator):
        path, name = "administrators/administrator", f"new-{operator.who.pk}"

        typed = {"username": name, "password": PASSWORD, "role": "support", "current_password": PASSWORD}
        refused = operate(operator, path, None, "create", **typed, tenants="nowhere")
        operate(operator, path, None, "create", **typed, tenants=acme.tenant.slug)
        made = Administrator.objects.get(username=name)
        wanted = {"email": "new@acme.example", "role": "auditor", "tenants": ""}
        operate(operator, path, made, "change", **wanted, current_password=PASSWORD)

        assert refused.status_code == 400
        assert "unknown: nowhere" in refused.text
        made.refresh_from_db()
        assert (made.email, made.role, made.tenants.count()) == ("new@acme.example", "auditor", 0)
        operate(operator, path, made, "delete", current_password=PASSWORD)
        assert not Administrator.objects.filter(pk=made.pk).exists()
