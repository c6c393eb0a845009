"""Each operation of the operators' site is done once, however often its form is sent, and redirects."""

import html
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from audit.models import Entry
from identity.core import tenancy
from identity.factors import browsers
from identity.organizations.models import Membership, Organization, OrganizationPermission, OrganizationRole
from identity.resources import services as resources
from identity.roles.models import Role
from identity.sessions import services as sessions
from identity.users import services as users
from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.connectors.messages import Message
from interaction.connectors.models import Connector
from interaction.social.models import SocialIdentity
from interaction.verification import outgoing
from interaction.verification.models import OutgoingMessage
from management.administrators import invitations
from management.administrators.models import Administrator, AdministratorPasskey, ProviderAccount
from oidc.applications import bindings
from oidc.applications.models import Application
from oidc.keys.models import SigningKey
from oidc.settings import services as oidc_settings
from tests.support import cast
from tests.support.cast import PASSWORD, World
from tests.support.operators import Operator, address_of, administrator, pages

# What is typed into the forms, besides what they show already. A new operation whose form needs input fails
# the test until it has a line here. The names of hidden operations end before the first dash.
TYPED: dict[str, dict[str, Any]] = {
    "administrator do change": {"current_password": PASSWORD},
    "administrator do create": {"username": "new-{}", "password": PASSWORD, "role": "support"},
    "administrator do invite": {"email": "{}@acme.example", "role": "support"},
    "administrator do password": {"password": "another good password"},
    "administrator do second-step": {},
    "application do create": {"name": "New", "type": "MachineToMachine"},
    "application do delete-secret": {"secret_id": "{row}"},
    "connector do create": {"connector_id": "google"},
    "connector do create-": {"host": "mail.acme.example", "from_email": "it@acme.example"},
    "connector do test": {"to": "ada@acme.example"},
    "organization do add-members": {"user_ids": "ada"},
    "organization do bind-applications": {"application_ids": "{robot}"},
    "organization do create": {"name": "New"},
    "organizationpermission do create": {"name": "new:permission"},
    "organizationrole do create": {"name": "New", "type": "User"},
    "invitation do create": {"email": "{}@acme.example", "role": "support"},
    "oidcsettings do lifetimes": {},
    "resource do add-scope": {"name": "read:new"},
    "resource do create": {"name": "New", "indicator": "https://new.example", "access_token_ttl": "600"},
    "role do add-users": {"user_ids": "ada"},
    "role do remove-users": {"user_ids": "ada"},
    "role do create": {"name": "New", "type": "User"},
    "signinexperience do message": {"message": "{first}", "language": ""},
    "signingkey do add": {"algorithm": "EdDSA"},
    "tenant do create": {"slug": "new-{}", "name": "New"},
    "tenant do delete": {"slug": "{slug}"},
    "user do disconnect": {"application_id": "{shop}"},
    "user do unlink": {"identity_id": "{identity}"},
    "user do create": {"username": "grace", "password": "a good password"},
    "user do password": {"password": "a good password"},
}
# The row of an operation that is not possible on the newest one.
ROWS = {"user do unlink": "ada", "user do disconnect": "ada"}
PROOF = {"current_password": PASSWORD, "current_code": ""}
# Its form is sent with GET, and it changes nothing.
READS = {"application do claims-preview"}
# They lead to another site: tests/interaction/social/test_trial.py, test_try_sign_in.py.
LEAVES = {"application do try-sign-in", "connector do try"}
# One needs a mail server: tests/management/administrators/test_invitations.py. Another needs a file and has
# pages of its own: tests/management/test_import_page.py. The others need second factors:
# tests/management/test_admin_factors.py.
NOT_HERE = {
    *("invitation do link", "user do import"),
    *("user do remove-factor", "user do reset-factors", "user do recovery-code"),
}


def fill(acme: World) -> World:
    """Rows for every operation; return a tenant that can be deleted."""
    carol = acme.user("carol")
    ada = acme.user("ada", email="ada@acme.example")
    acme.application(name="Shop").tokens_for(ada, scope="openid offline_access")
    robot = acme.application("MachineToMachine", name="Robot").application
    acme.application("MachineToMachine", name="Other robot")
    with acme.active():
        users.suspend(carol)
        sessions.start(ada, amr=["pwd"])
        acme.user("bob", email="bob@acme.example")
        made = Organization.objects.create(name="Chapter")
        Organization.objects.create(name="Another")
        OrganizationRole.objects.create(name="Lead")
        OrganizationPermission.objects.create(name="read:chapter")
        Membership.objects.create(organization=made, user=ada)
        bindings.bind(made.pk, [str(robot.pk)])
        SocialIdentity.objects.create(
            user=ada, provider="https://idp.example", subject="1", fingerprint="1", connector_id="oidc",
            provider_name="IdP", last_used_at=timezone.now(),
        )  # fmt: skip
        Role.objects.create(name="Editor", type=Role.Type.USER)
        for name in ("one", "two"):
            resource = resources.create(name=name, indicator=f"https://{name}.example")
            resources.add_scope(resource.pk, name=f"read:{name}")
        oidc_settings.change({"keep_signed_in": True}, is_proven=True)
        config = {"client_id": "x", "client_secret": "y"}
        social = connectors.create(connector_id="github", type="Social", config=config, is_proven=True)
        Connector.objects.filter(pk=social.pk).update(has_own_callback=False)
        connectors.create(connector_id="outbox-email", type="Email", config={}, is_proven=True)
        for _ in range(2):
            message = Message(
                channel="email", to="a@acme.example", interaction_type="test", code="", body="x"
            )
            outgoing.enqueue(message)
        OutgoingMessage.objects.update(due_at=timezone.now() + timedelta(hours=1))
    spare = cast.new_world("Spare")
    with tenancy.using(tenancy.DEFAULT):
        email = f"{cast.new_secret()[:8]}@acme.example"
        invitations.invite(email=email, by=administrator(), current_password=PASSWORD)
    second = administrator(tenants=[spare.tenant.slug])
    Administrator.objects.filter(pk=second.pk).update(second_step_since=timezone.now())
    return spare


def link_account(administrator: Administrator) -> None:
    """Link an account for single sign-on, which a new password unlinks."""
    account = {"issuer": "https://sso.example", "subject": cast.new_secret()}
    ProviderAccount.objects.create(administrator=administrator, **account)


def give_passkey(administrator: Administrator) -> None:
    facts = {"credential_id": "x", "credential_hash": cast.new_secret(), "public_key": b"x", "algorithm": -7}
    AdministratorPasskey.objects.create(administrator=administrator, verifies_user=True, **facts)


def sign_in_elsewhere(user: User) -> None:
    browsers.record(user, [])
    user.two_step = True
    user.save(update_fields=["two_step"])


# What a row needs for an operation.
SET_UP: dict[str, Callable[[Any], None]] = {
    "administrator do unlink": link_account,
    "administrator do passkeys": give_passkey,
    "user do forget-browsers": sign_in_elsewhere,
}


def rows_of(kind: Any, acme: World, spare: World, who: Administrator) -> list[Any]:
    """The rows of a kind that may be changed here, newest first."""
    name = kind.opts.model_name
    if name == "tenant":
        return [spare.tenant]
    if name == "administrator":
        return list(Administrator.objects.exclude(pk=who.pk).order_by("-pk")[:1])
    with acme.active():
        return list(kind.model._default_manager.order_by("-pk"))


def steps(acme: World, spare: World, operator: Operator) -> Any:
    """Each operation, in the order of its page, with a row on which it is possible."""
    seen = set()
    for kind in pages():
        for operation in kind.catalogue.all():
            name = operation.name.partition("-")[0] + "-" if operation.hidden else operation.name
            step = f"{kind.opts.model_name} do {name}"
            if step in seen:  # the same form for another provider or message
                continue
            seen.add(step)
            row = None
            if operation.needs_row:
                rows = rows_of(kind, acme, spare, operator.who)
                if step in SET_UP:
                    with acme.active():
                        SET_UP[step](rows[0])
                rows.sort(key=lambda row: str(row) != ROWS.get(step, str(row)))
                with acme.active():
                    row = next((row for row in rows if operation.is_possible(row)), None)
            yield step, kind, operation, row


def fields_of(operation: Any, row: Any, acme: World, step: str) -> dict[str, Any]:
    """What a form shows already, and what is typed into it."""
    with acme.active():
        form = operation.get_form_class(row)(initial=operation.initial(row))
        shown = {name: form[name].initial for name in form.fields}
        values = {
            "row": str(getattr(row, "pk", "")),
            "shop": id_of("Shop"),
            "robot": id_of("Robot"),
            "identity": str(SocialIdentity.objects.values_list("pk", flat=True).first()),
            "slug": getattr(row, "slug", ""),
            "first": next((str(key) for key, _ in _choices(form, "message")), ""),
        }
    known = {name: value for name, value in shown.items() if value and value is not None}
    proof = {name: value for name, value in PROOF.items() if name in form.fields}
    typed = {
        name: value.format(cast.new_secret()[:8].lower().replace("_", "x"), **values)
        for name, value in TYPED.get(step, {}).items()
    }
    return {name: "on" if value is True else value for name, value in known.items()} | proof | typed


def id_of(name: str) -> str:
    return str(Application.objects.filter(name=name).values_list("pk", flat=True).first())


def _choices(form: Any, name: str) -> list[Any]:
    return list(getattr(form.fields.get(name), "choices", ()))


def hidden_fields(page: str) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
    return {name: html.unescape(value) for name, value in found}


def test_every_operation_answers_with_a_redirect_and_is_done_once(acme: World, operator: Operator):
    spare = fill(acme)
    wrong = []

    for step, kind, operation, row in steps(acme, spare, operator):
        if step in READS | LEAVES | NOT_HERE:
            continue
        if operation.needs_row and row is None:
            wrong.append(f"{step}: no row")
            continue
        path = address_of(kind, *([row.pk] if row is not None else []), "do", operation.name)
        form = hidden_fields(operator.get(path).text) | fields_of(operation, row, acme, step)
        first = operator.http.post(path, data=form)
        second = operator.http.post(path, data=form)
        again = list(Entry.objects.of_request(second.headers["X-Request-Id"]).values_list("key", flat=True))
        to = first.headers.get("Location", "")
        if not (first.status_code == 303 and "/login/" not in to):
            wrong.append(f"{step}: {first.status_code} {_errors_of(first.text)}")
        elif second.headers.get("Location") != to:
            wrong.append(f"{step}: {to}, then {second.status_code} {second.headers.get('Location')}")
        elif again and not operation.has_own_transactions:
            wrong.append(f"{step}: the second form wrote {again}")
        elif operator.get(to).status_code not in {200, 302}:
            wrong.append(f"{step}: {to} does not exist")

    assert "\n".join(wrong) == ""


def _errors_of(page: str) -> str:
    found = re.findall(r'errorlist[^>]*>(.*?)</ul>|errornote"[^>]*>(.*?)</p>', page, re.DOTALL)
    return str([re.sub(r"<[^>]+>", "", one or other) for one, other in found])


def test_every_line_of_what_is_typed_belongs_to_an_operation():
    names = {
        f"{kind.opts.model_name} do {one.name.partition('-')[0] + '-' if one.hidden else one.name}"
        for kind in pages()
        for one in kind.catalogue.all()
    }

    assert (TYPED.keys() | READS) - names == set()
    assert {Application, SigningKey} <= {kind.model for kind in pages()}
