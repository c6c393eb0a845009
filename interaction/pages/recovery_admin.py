"""The operation that creates a recovery code for a user, on the operators' site."""

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.factors import recovery
from identity.operator_kit.extensions import register_operations
from identity.operator_kit.operations import Operation, ShowSecrets, Submission
from identity.users.models import User
from interaction.journeys import user_factors
from interaction.journeys.second_factor import recovering


def _issue(submission: Submission) -> ShowSecrets:
    code, _ = user_factors.issue_recovery_code(submission.row, seconds=recovery.DEFAULT_SECONDS)
    return ShowSecrets(
        gettext("The recovery code is created."),
        {gettext("Recovery code"): code},
        submission.row,
        "recovery-code",
        title=gettext("Recovery code"),
        kind="code",
    )


def _is_useful(user: User) -> bool:
    """Return whether a user can have lost a factor, or has no way to sign in that is left."""
    return bool(user.factors) or not recovering.has_other_way(user)


register_operations(
    User,
    Operation(
        "recovery-code", _("Create recovery code"),
        _("For a user who lost all second factors. After the first factor, the user enters it within an "
        "hour, and has to set up a new factor, which replaces the old ones. It is shown once, and an "
        "earlier one stops working. Check the identity of the user first. The user gets an email."),
        _issue, is_possible=_is_useful, sentence=_("Create recovery code for {name}"),
        needs_proof=True,
    ),
)  # fmt: skip
