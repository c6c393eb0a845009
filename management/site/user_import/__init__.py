"""*Import users* on the list of users: a file is checked first, and then imported."""

from django.utils.translation import gettext_lazy as _

from identity.operator_kit.extensions import register_operations
from identity.operator_kit.operations import Operation, ShowSite, Submission
from identity.users.models import User
from management.site.user_import import pages
from management.site.user_import.forms import ImportForm


def _show(_: Submission) -> ShowSite:
    raise AssertionError("the pages of the import run it")


register_operations(
    User,
    Operation(
        "import", _("Import users"),
        _("Creates users from a file. You see what it would do before anything is saved."),
        _show, form=ImportForm, needs_row=False, serve=pages.serve,
    ),
)  # fmt: skip
