"""The form with the file to import."""

from typing import Any, Final

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from management.imports import formats
from management.imports.records import MemoryFile, Unreadable
from management.site.user_import.uploads import LARGEST, Upload

_LABELS: Final[dict[str, Any]] = {
    "csv": "CSV",
    "jsonl": _("JSON lines"),
    "keycloak": "Keycloak",
    "auth0": "Auth0",
    "firebase": "Firebase",
    "logto": "Logto",
    "django": "Django",
}
_WITH_PASSWORD_FILE: Final = {"auth0", "firebase"}


class ImportForm(forms.Form):
    """The file, and how to read it."""

    file = forms.FileField(
        label=_("File"), widget=forms.FileInput, help_text=_("At most 1 MB and 2,000 users.")
    )
    format = forms.ChoiceField(
        label=_("Format"),
        required=False,
        choices=[("", _("By the file's name")), *((name, _LABELS[name]) for name in formats.NAMES)],
        help_text=_("Choose it unless the name ends in .csv, .jsonl or .ndjson."),
    )
    password_file = forms.FileField(
        label=_("Password file"),
        required=False,
        widget=forms.FileInput,
        help_text=_("For Auth0, the file of password hashes. For Firebase, the password hash parameters."),
    )
    source = forms.CharField(
        label=_("Source"),
        required=False,
        max_length=64,
        help_text=_(
            "A name for the other system. Enter one only if you import from two systems with the same format."
        ),
    )
    drop_unknown_hashes = forms.BooleanField(
        required=False,
        label=_("Import users without a password if their password hash is not supported"),
        help_text=_("Otherwise they are refused."),
    )

    def clean(self) -> dict[str, Any]:
        """Check the sizes, and choose the format by the name of the file."""
        fields: dict[str, Any] = super().clean() or {}
        files = [fields[name] for name in ("file", "password_file") if fields.get(name)]
        if sum(file.size for file in files) > LARGEST:
            self.add_error(
                "file", gettext("must be at most 1 MB. Use manage.py import_users for larger files.")
            )
        if "file" in fields and fields.get("format") == "":
            fields["format"] = self._guess_format(fields["file"].name)
        if fields.get("password_file") and fields.get("format", "") not in _WITH_PASSWORD_FILE:
            self.add_error("password_file", gettext("is read for Auth0 and Firebase only."))
        return fields

    def _guess_format(self, name: str) -> str:
        try:
            return formats.guess_format(MemoryFile(name, b""))
        except Unreadable:
            self.add_error(
                "format", gettext("must be chosen: the file's name does not end in .csv, .jsonl or .ndjson.")
            )
            return ""

    def get_upload(self) -> Upload:
        """Return the valid input."""
        fields = self.cleaned_data
        other = fields["password_file"]
        return Upload(
            name=fields["file"].name,
            content=fields["file"].read(),
            format=fields["format"],
            source=fields["source"] or fields["format"],
            drop_unknown_hashes=fields["drop_unknown_hashes"],
            password_file=other.read() if other else b"",
        )
