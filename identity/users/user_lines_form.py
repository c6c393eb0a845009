"""The form in which operators name several users."""

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from identity.users.user_lines import MAX_USERS


class UserLinesForm(forms.Form):
    """Several users, one per line. ``user_lines.find_user_ids`` finds them."""

    user_ids = forms.CharField(
        label=_("Users"), max_length=60_000, widget=forms.Textarea({"rows": 6, "spellcheck": "false"}),
        help_text=format_lazy(
            _("One username, email, phone or ID per line, at most {most}."), most=MAX_USERS
        ),
    )  # fmt: skip
