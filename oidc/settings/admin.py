"""The operators' page of the settings of OpenID Connect. It shows the settings that have an effect."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from database import ids
from identity.core import durations
from identity.core.algorithms import Algorithm
from identity.core.text_lists import join
from identity.operator_kit import extensions, lists, routes
from identity.operator_kit.operations import Operation, Submission, validate
from identity.operator_kit.pages import Pages
from identity.operator_kit.texts import Text
from oidc.settings import services, unused_settings
from oidc.settings.models import OidcSettings
from oidc.settings.serializers import OidcSettingsSerializer

_LIFETIMES = (
    "session_idle_seconds", "session_absolute_seconds",
    "refresh_token_idle_seconds", "refresh_token_absolute_seconds",
)  # fmt: skip
_GROUPS = {
    OidcSettings.GroupsClaim.ROLES: _("The names of the user's roles"),
    OidcSettings.GroupsClaim.ORGANIZATIONS: _("The names of the user's organizations"),
    OidcSettings.GroupsClaim.ORGANIZATION_ROLES: _("The user's roles in organizations, as organization:role"),
}


def _lifetime(label: Any) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        required=False,
        min_value=1,
        help_text=_("Seconds. Leave it empty for the installation's value."),
    )


class SigningForm(forms.Form):
    """The algorithm of tokens whose application or API resource names none."""

    default_signing_alg = forms.ChoiceField(
        label=_("Default algorithm"),
        choices=Algorithm.choices,
        help_text=_("For tokens of applications and API resources that name no algorithm."),
    )


class ClaimsForm(forms.Form):
    """The claims about users."""

    groups_claim = forms.ChoiceField(label=_("Claim groups"), choices=list(_GROUPS.items()))


class LifetimesForm(forms.Form):
    """How long sessions and refresh tokens live."""

    session_idle_seconds = _lifetime(_("Idle lifetime of sessions"))
    session_absolute_seconds = _lifetime(_("Maximum lifetime of sessions"))
    refresh_token_idle_seconds = _lifetime(_("Idle lifetime of refresh tokens"))
    refresh_token_absolute_seconds = _lifetime(_("Maximum lifetime of refresh tokens"))
    keep_signed_in = forms.BooleanField(
        label=_("Ask on the sign-in page whether to stay signed in"),
        required=False,
        help_text=_("A user who does not tick the box is signed out when the browser closes."),
    )


def _save(submission: Submission) -> str:
    fields = validate(OidcSettingsSerializer, submission.fields, submission.row)
    services.change(fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The settings of OpenID Connect are changed.")


def _initial(*names: str) -> Any:
    return lambda row: {name: getattr(row, name) for name in names}


@admin.register(OidcSettings)
class OidcSettingsAdmin(Pages):
    """The one set of settings of the tenant."""

    section = "Settings"
    place = 3
    title = "OpenID Connect"
    field_groups = (
        (_("Lifetimes"), ("sessions", "refresh_tokens", "asks_to_stay")),
        (_("Claims"), ("groups",)),
        (pgettext_lazy("of tokens", "Signing"), ("default_algorithm",)),
    )
    operations = (
        Operation(
            "signing", _("Edit signing"),
            _("New tokens are signed with the key of this algorithm, which is created if there is none. "
            "Applications that accept only the other algorithm refuse them."),
            _save, form=SigningForm, initial=_initial("default_signing_alg"),
            edits=pgettext_lazy("of tokens", "Signing"),
        ),
        Operation(
            "claims", _("Edit claims"), _("New tokens have the changed claims."),
            _save, form=ClaimsForm, initial=_initial("groups_claim"), edits=_("Claims"),
        ),
        Operation(
            "lifetimes", _("Edit lifetimes"),
            _("A change counts from the next use of a session or refresh token."),
            _save, form=LifetimesForm, initial=_initial(*_LIFETIMES, "keep_signed_in"),
            edits=_("Lifetimes"),
        ),
    )  # fmt: skip

    def get_row_name(self, row: Any) -> str:
        """Return a fixed title: a tenant has one set of settings."""
        return str(self.title)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the tenant's settings, which may have no row yet.

        Raises:
            Http404: the id is not that of the tenant's settings.

        """
        row = services.current()
        if ids.parse(object_id) != row.pk:
            raise Http404
        return row

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Redirect to the tenant's only settings."""
        lists.check_list_query(self, request)
        return HttpResponseRedirect(routes.row_url(services.current()))

    @admin.display(description=_("Default algorithm"))
    def default_algorithm(self, row: OidcSettings) -> str:
        """The algorithm of tokens whose application or API resource names none."""
        return row.default_signing_alg

    @admin.display(description=_("Asks to stay signed in"), boolean=True)
    def asks_to_stay(self, row: OidcSettings) -> bool:
        """Whether the sign-in page asks users if they want to stay signed in."""
        return row.keep_signed_in

    @admin.display(description=_("Claim groups"))
    def groups(self, row: OidcSettings) -> Text:
        """What the claim ``groups`` lists: roles or organizations."""
        return _GROUPS[OidcSettings.GroupsClaim(row.groups_claim)]

    @admin.display(description=_("Sessions"))
    def sessions(self, row: OidcSettings) -> str:
        """How long sessions live."""
        of_installation = settings.SESSION_IDLE_SECONDS, settings.SESSION_ABSOLUTE_SECONDS
        return _describe((row.session_idle_seconds, row.session_absolute_seconds), of_installation)

    @admin.display(description=_("Refresh tokens"))
    def refresh_tokens(self, row: OidcSettings) -> str:
        """How long refresh tokens live."""
        of_installation = settings.REFRESH_TOKEN_IDLE_SECONDS, settings.REFRESH_TOKEN_ABSOLUTE_SECONDS
        own = row.refresh_token_idle_seconds, row.refresh_token_absolute_seconds
        return _describe(own, of_installation)


def _describe(own: tuple[int | None, int | None], of_installation: tuple[int, int]) -> str:
    """Return how long something lives without use, and at most.

    What the tenant does not set is described with the value of the installation.
    """
    pairs = zip(own, of_installation, strict=True)
    idle, absolute = (
        durations.describe_exactly(default if mine is None else mine) for mine, default in pairs
    )
    lifetimes = join(
        (
            gettext("%(time)s without use") % {"time": idle},
            gettext("%(time)s at most") % {"time": absolute},
        )
    )
    if own == (None, None):
        return gettext("As the installation: %(lifetimes)s") % {"lifetimes": lifetimes}
    return lifetimes


extensions.register_card(OidcSettings, unused_settings.build_card)
