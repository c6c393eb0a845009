"""A code that was entered on a page."""

from dataclasses import dataclass, field

from identity.sessions import proof_secrets
from identity.sessions.proof_secrets import ProofSecret
from identity.users.identifiers import Kind
from interaction.journeys import codes
from interaction.verification.models import Purpose, VerificationCode


@dataclass(frozen=True, slots=True, kw_only=True)
class EnteredCode:
    """An entered code, with the identifier and the browser to which it is bound, and the user's choice.

    Unless the code signs the user in, the browser gets the new ``secret``, which it needs for the next step.
    """

    kind: Kind
    identifier: str
    code: str
    browser: str
    keep_signed_in: bool
    secret: ProofSecret = field(default_factory=proof_secrets.new)

    def verify(self, purpose: Purpose) -> VerificationCode:
        """Redeem a code that does not sign the user in, and return the proof.

        Raises:
            verification.WrongCode: the code is wrong or has expired.

        """
        return codes.verify(
            purpose=purpose,
            kind=self.kind,
            identifier=self.identifier,
            code=self.code,
            browser=self.browser,
            secret=self.secret,
        )
