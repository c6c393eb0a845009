"""Signing keys, for operators. Nothing here reads a private half."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from identity.operator_kit.operations import Operation, Submission
from identity.operator_kit.pages import Pages
from oidc.keys import services, usage
from oidc.keys.models import SigningKey


def _prepare(submission: Submission) -> str:
    return f"Key {services.prepare().pk} is published. It becomes active at the next rotation."


def _rotate(submission: Submission) -> str:
    return f"Key {services.rotate().pk} is now active."


def _remove(submission: Submission) -> str:
    services.remove(submission.row)
    return "The key is deleted."


@admin.register(SigningKey)
class SigningKeyAdmin(Pages):
    """Signing keys: the active one, the next one and those before."""

    section = "Applications"
    title = "Signing keys"
    list_display = ("id", "status", "created_at", "activated_at", "retired_at")
    ordering = ("status", "-created_at", "-pk")  # active, next, previous: also the alphabetical order
    fields = (
        "id", "status", "algorithm", "created_at", "activated_at", "retired_at", "safe_to_delete",
    )  # fmt: skip
    operations = (
        Operation(
            "prepare", "Prepare next key",
            "Publishes it in the key set, so that applications know it before a rotation makes it active.",
            _prepare, needs_row=False,
        ),
        Operation(
            "rotate", "Rotate signing keys",
            "The next key becomes active, or a new one if there is none. Tokens of the old one stay valid.",
            _rotate, needs_row=False, is_destructive=True,
        ),
        Operation(
            "delete", "Delete signing key", "Tokens that this key signed are refused at once, everywhere.",
            _remove, is_possible=lambda key: key.status != SigningKey.Status.ACTIVE, is_destructive=True,
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the keys without the columns that the pages do not show."""
        return super().get_queryset(request).defer("public_jwk", "sealed_private_key")

    @admin.display(description="Safe to delete")
    def safe_to_delete(self, key: SigningKey) -> str:
        """Return when the last token that the key signed expires."""
        if key.status == SigningKey.Status.ACTIVE:
            return "Never while it is active"
        last = usage.get_last_expiry(key)
        return "Now" if last is None else f"{last:%Y-%m-%d %H:%M:%S} UTC"
