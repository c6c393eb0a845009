"""Finding what a browser proved with codes.

A proof belongs to the browser that requested the code, and to the secret that it got when the code was
entered: see ``identity.sessions.proof_secrets``. ``services.spend`` uses a proof up.
"""

from collections.abc import Sequence

from identity.sessions import proof_secrets
from identity.users.identifiers import Kind
from interaction.verification import recipients
from interaction.verification.models import Purpose, VerificationCode


def find(
    *, purpose: Purpose, kind: Kind, identifier: str, browser: str, proofs: Sequence[str]
) -> VerificationCode | None:
    """Return the proof that this browser entered the code of an identifier, if there is one.

    ``proofs`` are the hashes of the browser's secrets.
    """
    if not browser:
        return None
    codes = VerificationCode.objects.matching(
        purpose=purpose, kind=kind, key=recipients.key_of(kind, identifier), browser=browser
    )
    return codes.proofs().filter(proof_secrets.opened_by(proofs)).order_by("-used_at").first()


def find_all(*, purpose: Purpose, browser: str, proofs: Sequence[str]) -> dict[Kind, VerificationCode]:
    """Return a browser's newest valid proof of each kind for a purpose.

    ``proofs`` are the hashes of the browser's secrets.
    """
    if not browser:
        return {}
    opened = proof_secrets.opened_by(proofs)
    found = VerificationCode.objects.filter(opened, purpose=purpose, browser=browser).proofs()
    return {Kind(proof.kind): proof for proof in found.order_by("used_at")}
