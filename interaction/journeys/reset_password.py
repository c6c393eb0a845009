"""Setting a new password with a proven email or phone."""

from django.db import transaction

from audit import log
from audit.events import Event
from identity.limits import rules
from identity.limits import services as limits
from identity.users import credentials, identifiers, ownership, passwords, typed
from identity.users.identifiers import Kind
from interaction.experience import policy
from interaction.experience import services as experience
from interaction.verification import services as verification
from interaction.verification.models import Purpose


def set_new_password(*, identifier: str, new_password: str, browser: str) -> None:
    """Set the password of the user whose email or phone was proven in this browser.

    It spends the proof (``codes``, purpose ``forgot_password``) and ends all sessions and refresh tokens
    of the user. It does not sign in, and a suspended user stays suspended.

    Raises:
        verification.NotVerified: the identifier was not proven in this browser within 10 minutes, or the
            password was changed since the code was sent.
        policy.PasswordRefused: the password breaks the tenant's policy; the proof stays valid.
        limits.TooMany: too many from this address.
        passwords.Busy: too many sign-ins.

    """
    passwords.check_capacity()  # first, so that a flood costs no statement and no log entry
    limits.hit_by_address(rules.SIGN_INS)
    with log.attempt(Event.FORGOT_PASSWORD, typed.identifier(identifier)) as entry:
        kind = identifiers.detect_kind(identifier)
        proof = None
        if kind is not Kind.USERNAME:
            proof = verification.find_proof(
                purpose=Purpose.FORGOT_PASSWORD, kind=kind, identifier=identifier, browser=browser
            )
        user = ownership.find_by_proof(kind, proof.identifier_key, address=proof.address) if proof else None
        if proof is None or user is None or proof.is_outdated(user):
            raise verification.NotVerified("identifier")
        entry.set_identifier_known(is_known=True)
        policy.check(
            new_password,
            experience.current().password_policy,
            field="new_password",
            own=(user.username, user.email, user.phone),
        )
        encoded = passwords.hash_password(new_password)
        try:
            with transaction.atomic():
                verification.spend(proof)
                credentials.reset_password(user, encoded, kind=kind, key=proof.identifier_key)
                entry.user_id = user.pk
                entry.record_success()
        except ownership.NotTheOwner:
            raise verification.NotVerified("identifier") from None
