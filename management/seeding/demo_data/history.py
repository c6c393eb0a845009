"""Made-up audit entries of a tenant: sign-ins of users, and tokens of applications."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final

from django.db.models import Count, Max, QuerySet
from django.utils import timezone

from audit.events import Event
from audit.models import Entry
from identity.core.tenancy import ActiveTenant
from identity.factors.kinds import FactorType
from identity.factors.levels import ACR, Level
from identity.users import typed_identifiers
from identity.users.models import User
from management.seeding.demo_data import made_up
from management.seeding.demo_data.people import SOURCE
from oidc.applications.models import Application

_BATCH: Final = 500
_SIGN_INS: Final = (Event.SIGN_IN_PASSWORD, Event.SIGN_IN_CODE, Event.SIGN_IN_SOCIAL)
_TOKENS: Final = (Event.TOKEN_EXCHANGE, Event.TOKEN_REFRESH)
_SUSPENDED_FOR: Final = timedelta(days=12)
_BETWEEN_TOKENS: Final = timedelta(hours=11)
_MACHINE_DAYS: Final = timedelta(days=95)


@dataclass(frozen=True, slots=True)
class DemoSubjects:
    """The tenant, users and applications that the entries are about, the seed, and the current time."""

    tenant: ActiveTenant
    seed: int
    people: Mapping[int, User]
    applications: list[Application]
    now: datetime

    def entry(
        self, event: Event | str, created_at: datetime, payload: dict[str, Any], **columns: Any
    ) -> Entry:
        """Return an unsaved entry. Its user agent ends with a mark that contains the seed."""
        agent = f"{columns.pop('browser', '')} {_mark(self.seed)}".strip()
        return Entry(
            tenant_id=self.tenant.id,
            key=str(event),
            payload=payload | {"demo": True},
            user_agent=agent,
            created_at=created_at,
            **columns,
        )


def _mark(seed: int) -> str:
    return f"{SOURCE}/{seed}"


def _entries(tenant: ActiveTenant, seed: int) -> QuerySet[Entry]:
    # Made-up entries are marked by their user agent, because the log has no other field for a mark.
    return Entry.objects.filter(tenant_id=tenant.id, user_agent__endswith=_mark(seed))


def count_sign_ins(tenant: ActiveTenant, seed: int) -> int:
    """Return the number of made-up sign-ins."""
    return _entries(tenant, seed).filter(key__in=_SIGN_INS).count()


def count_tokens(tenant: ActiveTenant, seed: int) -> int:
    """Return the number of made-up tokens."""
    return _entries(tenant, seed).filter(key__in=_TOKENS).count()


def get_sign_ins(subjects: DemoSubjects, *, since: datetime) -> QuerySet[Entry]:
    """Return the made-up sign-ins that succeeded since a time, the oldest first."""
    sign_ins = _entries(subjects.tenant, subjects.seed).filter(key__in=_SIGN_INS, created_at__gte=since)
    return sign_ins.filter(payload__result="success").order_by("created_at", "id")


def get_browser(subjects: DemoSubjects, sign_in: Entry) -> str:
    """Return the user agent of a made-up sign-in, without the mark of the seed."""
    return sign_in.user_agent.removesuffix(_mark(subjects.seed)).rstrip()


def write(subjects: DemoSubjects, numbers: range) -> None:
    """Write sign-ins with these numbers, and the tokens that followed."""
    rows = _sign_ins(subjects, numbers)
    while batch := list(islice(rows, _BATCH)):
        Entry.objects.bulk_create(batch)
    _count_sign_ins(subjects)


def write_machine_tokens(subjects: DemoSubjects, machine: Application) -> None:
    """Write entries of a machine's tokens: since its newest entry or, without one, for the last 95 days."""
    newest = _entries(subjects.tenant, subjects.seed).filter(application_id=str(machine.pk))
    time = newest.aggregate(Max("created_at"))["created_at__max"] or subjects.now - _MACHINE_DAYS
    payload = {"grant_type": "client_credentials", "result": "success", "scope": "read:orders write:orders"}
    entries = []
    while (time := time + _BETWEEN_TOKENS) < subjects.now:
        entries.append(
            subjects.entry(
                Event.TOKEN_EXCHANGE, time, payload, application_id=str(machine.pk), ip="203.0.113.20"
            )
        )
    Entry.objects.bulk_create(entries, batch_size=_BATCH)


def _sign_ins(subjects: DemoSubjects, numbers: range) -> Iterator[Entry]:
    for number in numbers:
        sign_in = made_up.sign_in(subjects.seed, number, len(subjects.people))
        user = subjects.people.get(sign_in["person"])
        if user is None:
            continue
        time = subjects.now - made_up.history_of(user.created_at, subjects.now) * sign_in["ago"]
        application = subjects.applications[sign_in["application"] % len(subjects.applications)]
        origin = {"ip": sign_in["ip"], "browser": sign_in["browser"]}
        of_application = {"application_id": str(application.pk)}
        by = {"connector_id": "google"} if sign_in["method"] == Event.SIGN_IN_SOCIAL else {}
        error = sign_in["error"]
        if user.is_suspended and time > subjects.now - _SUSPENDED_FOR:
            error = error or "suspended"
        if error:
            identifier = typed_identifiers.build(user.username, is_known=True)
            payload = {"result": "failed", "error": error} | by | identifier.facts()
            yield subjects.entry(
                sign_in["method"], time, payload, identifier_key=identifier.key, **origin, **of_application
            )
            continue
        whose = origin | of_application | {"user_id": str(user.pk)}
        payload = {"result": "success"} | by | _describe(user)
        yield subjects.entry(sign_in["method"], time, payload, **whose)
        yield from _tokens(subjects, time, sign_in["refreshes"], whose)


def _describe(user: User) -> dict[str, Any]:
    """Return what a sign-in of a user proved besides the first factor."""
    if not user.factors:
        return {"factors": [], "acr": ACR[Level.ONE], "remembered": False}
    return {"factors": [FactorType.TOTP.value], "acr": ACR[Level.TWO], "remembered": False}


def _tokens(subjects: DemoSubjects, time: datetime, refreshes: int, whose: dict[str, Any]) -> Iterator[Entry]:
    facts = {"result": "success", "scope": "openid profile email offline_access"}
    code = facts | {"grant_type": "authorization_code"}
    yield subjects.entry(Event.TOKEN_EXCHANGE, time + timedelta(seconds=1), code, **whose)
    for _ in range(refreshes):
        time += timedelta(hours=1, minutes=3)
        if time < subjects.now:
            refresh = facts | {"grant_type": "refresh_token"}
            yield subjects.entry(Event.TOKEN_REFRESH, time, refresh, **whose)


def _count_sign_ins(subjects: DemoSubjects) -> None:
    """Store with each made-up user the number and the time of the latest of the sign-ins in the log."""
    ids = [str(user.pk) for user in subjects.people.values()]
    for start in range(0, len(ids), _BATCH):
        rows = (
            Entry.objects.filter(
                tenant_id=subjects.tenant.id,
                key__in=_SIGN_INS,
                user_id__in=ids[start : start + _BATCH],
                payload__result="success",
            )
            .order_by()
            .values_list("user_id")
            .annotate(Count("pk"), Max("created_at"))
        )
        for user_id, number, last in rows:
            User.objects.filter(pk=user_id).update(login_count=number, last_sign_in_at=last)


def new_subjects(
    tenant: ActiveTenant, seed: int, people: Mapping[int, User], applications: list[Application]
) -> DemoSubjects:
    """Return the subjects of entries that end now."""
    return DemoSubjects(tenant, seed, people, applications, timezone.now())
