"""The card at the top of a user's page: what works, what stops the user, and the latest attempts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.administrative import ADMINISTRATIVE
from audit.events import Event
from audit.models import Entry
from database import ids
from identity.core import tenancy
from identity.core.text_lists import join
from identity.operator_kit.extensions import register_card
from identity.operator_kit.panels import Card, Link, link
from identity.operator_kit.timestamps import format_text, format_time
from identity.users import sign_in_locks, sign_in_ways, typed_identifiers
from identity.users.models import User
from identity.users.sign_in_ways import SignInWay
from management.administrators.models import Administrator
from management.site import refusal_sentences
from management.site.localized import to_sentence
from oidc.applications.models import Application

_SHOWN: Final = 10
_READ: Final = 50  # attempts, whose networks may be locked
_WAYS: Final[Mapping[str, Promise]] = {
    Event.SIGN_IN_PASSWORD: _("Password"),
    Event.SIGN_IN_CODE: _("Code"),
    Event.SIGN_IN_SOCIAL: _("Other provider"),
    Event.SIGN_IN_PASSKEY: _("Passkey"),
    Event.SIGN_IN_FIRST_FACTOR: _("First factor; a second one was needed"),
    Event.MFA_VERIFY: _("Second factor"),
    Event.SOCIAL_IDENTITY_CREATE: _("Linking an account at a provider"),
    Event.CODE_SEND: _("Sending a code"),
    Event.CODE_VERIFY: _("Entering a code"),
    Event.FORGOT_PASSWORD: _("New password after a code"),
    Event.PASSWORD_VERIFY: _("Password, on the account page"),
    Event.APPLICATION_REFUSE: _("Opening an application"),
}


@dataclass(frozen=True, slots=True)
class State:
    """Something that works or prevents a sign-in, and the button that fixes it, if there is one."""

    text: str
    detail: str = ""
    is_good: bool = False
    button: Link | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A row of the table of sign-in attempts."""

    time: Link
    way: str
    is_failed: bool
    reason: str
    ip: str
    application: Link | str


@dataclass(frozen=True, slots=True)
class Health:
    """The content of the card."""

    states: list[State]
    attempts: list[Attempt]


def build_card(user: User, urls: Mapping[str, str]) -> Card:
    """Return the card of a user. ``urls`` has the operations that the administrator may run."""
    entries = _find_attempts(user)
    locks = _build_locks(user, entries, urls)
    ways = sign_in_ways.get_ways(user)
    states = [
        *_build_suspension(user, urls), *locks, *_build_ways(user, ways, urls, is_locked=bool(locks)),
        *_build_provider_failures(ways),
    ]  # fmt: skip
    return Card("admin/sign_in_health.html", Health(states, _describe(entries[:_SHOWN])))


def _find_attempts(user: User) -> list[Entry]:
    """Return the latest attempts by the user, and with the identifiers that the user has now."""
    # The log of the default tenant also has the entries of administrators, who may have the same identifier.
    of_users = Entry.objects.filter(tenant_id=tenancy.active_id(), key__in=_WAYS.keys() - ADMINISTRATIVE)
    subject = typed_identifiers.get_subject([user])
    return list(of_users.of_subject(subject).order_by("-created_at", "-id")[:_READ])


def _build_suspension(user: User, urls: Mapping[str, str]) -> list[State]:
    if not user.is_suspended:
        return []
    changes = Entry.objects.filter(
        tenant_id=tenancy.active_id(),
        key=Event.USER_UPDATE.value,
        payload__has_key="id",
        payload__id=str(user.pk),
        payload__fields=["is_suspended"],
    )
    entry = changes.order_by("-created_at", "-id").first()
    detail = _describe_suspension(entry) if entry else ""
    button = _build_button(gettext("Reactivate user"), urls.get("reactivate"))
    return [State(gettext("Suspended"), detail, button=button)]


def _describe_suspension(entry: Entry) -> str:
    """Return since when a user is suspended, and which administrator or application did it."""
    values: dict[str, object] = {"time": format_text(entry.created_at)}
    if isinstance(pk := entry.payload.get("administrator_id"), int):
        values["name"] = Administrator.objects.filter(pk=pk).first() or pk
        return gettext("Since %(time)s, by administrator %(name)s.") % values
    if entry.application_id:
        pk = ids.parse(entry.application_id)
        values["name"] = (pk and Application.objects.filter(pk=pk).first()) or entry.application_id
        return gettext("Since %(time)s, by application %(name)s.") % values
    return gettext("Since %(time)s, by a command.") % values


def _build_locks(user: User, entries: list[Entry], urls: Mapping[str, str]) -> list[State]:
    locks = sign_in_locks.get_locks(user)
    ips = [entry.ip for entry in entries]
    networks = sign_in_locks.get_networks_by_key_hash(user, ips) if locks else {}
    button = _build_button(gettext("Unlock user"), urls.get("unlock"))
    states: dict[str, State] = {}
    for lock in locks:  # the longest first; one network can be locked for several identifiers
        network = networks.get(lock.key_hash)
        text = _describe_lock(network, timezone.now() + timedelta(seconds=lock.resets_in))
        detail = gettext("After too many wrong passwords.")
        states.setdefault(str(network), State(text, detail, button=None if states else button))
    return list(states.values())


def _describe_lock(network: str | None, until: datetime) -> str:
    """Return what a lock says. An empty network stands for all networks, and None for an unknown one."""
    values = {"network": network, "time": format_text(until, "%H:%M")}
    if network is None:
        return gettext("Locked for another network or browser until %(time)s") % values
    if not network:
        return gettext("Locked for all networks and unknown browsers until %(time)s") % values
    return gettext("Locked for %(network)s until %(time)s") % values


def _build_ways(
    user: User, ways: list[SignInWay], urls: Mapping[str, str], *, is_locked: bool
) -> list[State]:
    """Return one state for the ways that work now, and one for each that has a problem."""
    problems = [_build_problem(way, urls) for way in ways if way.problem]
    intact = [way for way in ways if not way.problem]
    if not intact:
        detail = "" if ways else gettext("The user has no identifier.")
        return [State(gettext("No way to sign in"), detail), *problems]
    working = join(way.name for way in intact if not (is_locked and way.needs_password))
    if user.is_suspended or not working:
        return problems
    text = gettext("Still works") if is_locked else gettext("Can sign in")
    return [State(text, to_sentence(working), is_good=True), *problems]


def _build_provider_failures(ways: list[SignInWay]) -> list[State]:
    """Return a state for each linked provider at which the latest sign-in of the tenant failed.

    Whose sign-in it was is not known, because the provider's answer could not be used.
    """
    names = {way.connector_id: way.name for way in ways if way.connector_id and not way.problem}
    if not names:
        return []
    of_tenant = Entry.objects.filter(tenant_id=tenancy.active_id(), key=Event.SIGN_IN_SOCIAL.value)
    sign_ins = of_tenant.without_trials()
    latest: dict[object, Entry] = {}
    for entry in sign_ins.order_by("-created_at", "-id")[:_READ]:
        latest.setdefault(entry.payload.get("connector_id"), entry)
    failed = {name: latest[pk] for pk, name in names.items() if pk in latest and _is_failure(latest[pk])}
    return [
        State(
            gettext("%(name)s: the latest sign-in failed at the provider") % {"name": name},
            to_sentence(refusal_sentences.describe(entry)),
            button=link(entry, gettext("Show the entry")),
        )
        for name, entry in failed.items()
    ]


def _is_failure(entry: Entry) -> bool:
    return bool(entry.payload.get("error") == "provider_failed")


def _build_problem(way: SignInWay, urls: Mapping[str, str]) -> State:
    labels = {"password": gettext("Set password"), "verify": gettext("Verify addresses")}
    button = way.link or _build_button(labels.get(way.operation, ""), urls.get(way.operation))
    return State(gettext("%(name)s: does not work") % {"name": way.name}, way.problem, button=button)


def _build_button(text: str, url: str | None) -> Link | None:
    """Return a button, or None if the administrator may not run the operation."""
    return Link(text, url) if url else None


def _describe(entries: list[Entry]) -> list[Attempt]:
    pks = {pk for entry in entries if (pk := ids.parse(entry.application_id or ""))}
    applications = {str(pk): row for pk, row in Application.objects.in_bulk(pks).items()}
    return [
        Attempt(
            link(entry, format_time(entry.created_at)),
            _describe_way(entry),
            is_failed := entry.payload.get("result") == "failed",
            refusal_sentences.describe(entry) if is_failed else "",
            entry.ip,
            link(applications[name]) if (name := entry.application_id or "") in applications else "-",
        )
        for entry in entries
    ]


def _describe_way(entry: Entry) -> str:
    way = _WAYS[entry.key]
    if entry.payload.get("is_test"):
        return gettext("%(text)s (tried by an administrator)") % {"text": way}
    return str(way)


register_card(User, build_card)
