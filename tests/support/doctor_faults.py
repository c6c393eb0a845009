"""Faults of an installation, each by the finding of ``manage.py doctor`` that has to name it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings as configured
from django.core.cache.backends.redis import RedisCache
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from audit import log, triggers
from audit.context import new_request
from audit.events import Event
from identity.factors.models import Passkey
from identity.factors.triggers import FACTORS
from identity.users import passwords
from interaction.connectors import services as connectors
from interaction.connectors.models import Connector
from interaction.experience.models import SignInExperience
from interaction.verification.models import OutgoingMessage
from management.administrators.models import Administrator
from oidc.applications.models import Application
from oidc.keys import services as keys
from oidc.keys.models import SigningKey
from tests.support import cast, operators, passkeys, second
from tests.support.cast import World
from tests.support.codes import experience

VAR = configured.VAR
RING = dict(configured.ENCRYPTION_KEYS)
OTHER_RING = {"feedbeef": bytes(range(32))}


def nothing_listens(settings: Any, acme: World) -> None:
    settings.BASE_URL = f"http://127.0.0.1:{second.free_port()}"


def another_issuer(settings: Any, acme: World) -> None:
    settings.BASE_URL = settings.BASE_URL.replace("127.0.0.1", "localhost")


def no_trusted_proxy(settings: Any, acme: World) -> None:
    settings.BASE_URL = settings.BASE_URL.replace("http:", "https:")


def no_forwarded_address(settings: Any, acme: World) -> None:
    settings.BASE_URL = settings.BASE_URL.replace("http:", "https:")
    settings.TRUSTED_PROXIES = {"192.0.2.7"}
    with new_request(ip="192.0.2.7", user_agent="", request_id=""):
        for _ in range(200):
            log.record(Event.USER_UPDATE)


def a_migration_missing(settings: Any, acme: World) -> None:
    MigrationRecorder(connection).migration_qs.filter(app="grants", name="0001_initial").delete()


def no_trigger(settings: Any, acme: World) -> None:
    name = min(triggers.APPEND_ONLY.names(connection.vendor))
    with connection.cursor() as cursor:
        cursor.execute(
            f"DROP TRIGGER {name}" + (" ON audit_entry" if connection.vendor == "postgresql" else "")
        )


def users_not_counted(settings: Any, acme: World) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DROP TRIGGER users_user_count_insert"
            + (" ON users_user" if connection.vendor == "postgresql" else "")
        )


def members_not_counted(settings: Any, acme: World) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DROP TRIGGER organizations_membership_count_delete"
            + (" ON organizations_membership" if connection.vendor == "postgresql" else "")
        )


def late_entries_not_counted(settings: Any, acme: World) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DROP TRIGGER audit_entry_stretch_insert"
            + (" ON audit_entry" if connection.vendor == "postgresql" else "")
        )


def a_dead_cache(settings: Any, acme: World) -> None:
    address = f"redis://:canary-cache-password@127.0.0.1:{second.free_port()}/0"
    settings.CACHES = {
        "default": {"BACKEND": f"{RedisCache.__module__}.{RedisCache.__name__}", "LOCATION": address}
    }


def no_active_key(settings: Any, acme: World) -> None:
    with acme.active():
        SigningKey.objects.all().delete()


def factors_not_kept(settings: Any, acme: World) -> None:
    name = min(FACTORS.names(connection.vendor))
    table = name.rpartition("_")[0]
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {name}" + (f" ON {table}" if connection.vendor == "postgresql" else ""))


def a_lost_ring(settings: Any, acme: World) -> None:
    settings.ENCRYPTION_KEYS = OTHER_RING


def a_lost_key_of_messages(settings: Any, acme: World) -> None:
    with acme.active():
        OutgoingMessage.objects.create(sealed="deadbeef.AAAA", due_at=timezone.now())


def an_older_ring_key(settings: Any, acme: World) -> None:
    settings.ENCRYPTION_KEYS = OTHER_RING | RING


def a_closed_next_key(settings: Any, acme: World) -> None:
    with acme.active():
        SigningKey.objects.filter(pk=keys.prepare().pk).update(sealed_private_key="deadbeef.AAAA")


def a_closed_connector(settings: Any, acme: World) -> None:
    with acme.active():
        made = connectors.create(connector_id="outbox-email", type="Email", config={}, is_proven=True)
        Connector.objects.filter(pk=made.pk).update(sealed_config="deadbeef.AAAA")


def an_unknown_provider(settings: Any, acme: World) -> None:
    with acme.active():
        connectors.create(connector_id="pigeon", type="Email", config={}, enabled=True, is_proven=True)


def nobody_to_send_codes(settings: Any, acme: World) -> None:
    experience(acme, sign_up={"identifiers": ["email"], "verify": True})


def nobody_to_send_passwords(settings: Any, acme: World) -> None:
    cast.new_world("Without-Connectors")


def buttons_that_create_no_users(settings: Any, acme: World) -> None:
    experience(acme, sign_up={"identifiers": [], "verify": False})
    config = {"client_id": "gatehouse", "client_secret": "canary-github"}
    with acme.active():
        connectors.create(connector_id="github", type="Social", config=config, enabled=True, is_proven=True)


def no_list_of_breached_passwords(settings: Any, acme: World) -> None:
    settings.BREACHED_PASSWORDS = str(VAR / "no-such-list")


def a_stuck_message(settings: Any, acme: World) -> None:
    with acme.active():
        OutgoingMessage.objects.create(sealed="", due_at=timezone.now() - timedelta(minutes=20))


def a_redirect_over_http(settings: Any, acme: World) -> None:
    application = acme.application().application
    with acme.active():
        Application.objects.filter(pk=application.pk).update(redirect_uris=["http://rp.example/callback"])


def a_redirect_with_a_wildcard(settings: Any, acme: World) -> None:
    application = acme.application().application
    with acme.active():
        Application.objects.filter(pk=application.pk).update(redirect_uris=["https://*.rp.example/callback"])


def a_redirect_to_the_own_machine(settings: Any, acme: World) -> None:
    acme.application(redirect_uris=["http://localhost:3000/callback"])


def nobody_above(settings: Any, acme: World) -> None:
    Administrator.objects.update(is_superuser=False)


def the_first_password(settings: Any, acme: World) -> None:
    settings.ADMIN_PASSWORD_FILE = VAR / "first-password"
    settings.ADMIN_PASSWORD_FILE.touch(0o600)


def a_first_password_that_is_common(settings: Any, acme: World) -> None:
    settings.ADMIN_USERNAME = operators.administrator().username
    settings.ADMIN_PASSWORD = "password1"
    hashed = passwords.hash_password(settings.ADMIN_PASSWORD)
    Administrator.objects.filter(username=settings.ADMIN_USERNAME).update(password=hashed)


def a_username_without_a_key(settings: Any, acme: World) -> None:
    operators.administrator()
    Administrator.objects.update(username_key=None)


def a_superuser_with_one_step(settings: Any, acme: World) -> None:
    operators.administrator(is_superuser=True)


def nobody_with_two_steps(settings: Any, acme: World) -> None:
    settings.ADMIN_TWO_STEP = "required"
    operators.administrator(is_superuser=True)
    Administrator.objects.update(second_step_since=None)


def a_secret_for_everybody(settings: Any, acme: World) -> None:
    path = VAR / "secret-key"
    path.write_text("canary-in-a-file")
    path.chmod(0o644)


def a_folder_for_everybody(settings: Any, acme: World) -> None:
    settings.VAR = VAR / "everybodys"
    settings.VAR.mkdir(exist_ok=True)
    settings.VAR.chmod(0o777)


def a_folder_that_others_list(settings: Any, acme: World) -> None:
    settings.VAR = VAR / "listed"
    settings.VAR.mkdir(exist_ok=True)
    settings.VAR.chmod(0o755)


def passkeys_of_another_address(settings: Any, acme: World) -> None:
    passkeys.enrol(acme, acme.user(), passkeys.device())
    with acme.active():
        Passkey.objects.update(rp_id="old.example")


def second_factors_that_nobody_can_use(settings: Any, acme: World) -> None:
    with acme.active():
        SignInExperience.objects.update(mfa={"factors": ["EmailVerificationCode"], "policy": "Mandatory"})


def a_message_that_tells_others_its_code(settings: Any, acme: World) -> None:
    html = "<style>a { top: 0 }</style>{code}"
    template = {"purpose": "sign_in", "channel": "email", "language": "", "subject": "Code", "text": "{code}"}
    with acme.active():
        SignInExperience.objects.update(message_templates=[template | {"html": html}])


FAULTS: dict[Callable[[Any, World], None], str] = {
    nothing_listens: "address.E001",
    another_issuer: "address.E002",
    no_trusted_proxy: "proxies.W001",
    no_forwarded_address: "proxies.W002",
    a_migration_missing: "database.E005",
    no_trigger: "audit.E001",
    factors_not_kept: "factors.E001",
    users_not_counted: "users.W001",
    members_not_counted: "organizations.W001",
    late_entries_not_counted: "audit.W002",
    a_dead_cache: "cache.E001",
    no_active_key: "signing_keys.E001",
    a_lost_ring: "signing_keys.E002",
    a_closed_next_key: "signing_keys.W003",
    an_older_ring_key: "encryption_keys.W002",
    a_lost_key_of_messages: "encryption_keys.E001",
    a_closed_connector: "connectors.E001",
    an_unknown_provider: "connectors.W002",
    nobody_to_send_codes: "experience.E001",
    nobody_to_send_passwords: "experience.I002",
    buttons_that_create_no_users: "experience.I003",
    no_list_of_breached_passwords: "experience.E005",
    a_stuck_message: "messages.E001",
    a_redirect_over_http: "applications.E001",
    a_redirect_with_a_wildcard: "applications.E001",
    a_redirect_to_the_own_machine: "applications.W002",
    nobody_above: "administrators.E001",
    the_first_password: "administrators.W002",
    a_first_password_that_is_common: "administrators.W008",
    a_superuser_with_one_step: "administrators.W003",
    nobody_with_two_steps: "administrators.E004",
    a_username_without_a_key: "administrators.W005",
    passkeys_of_another_address: "passkeys.W004",
    second_factors_that_nobody_can_use: "experience.E006",
    a_message_that_tells_others_its_code: "experience.W008",
    a_secret_for_everybody: "files.E001",
    a_folder_for_everybody: "files.E002",
    a_folder_that_others_list: "files.W003",
}
