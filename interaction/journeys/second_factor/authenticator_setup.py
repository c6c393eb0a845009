"""What an authenticator app needs to be set up: a secret, as text and as a picture."""

from dataclasses import dataclass

from identity.factors import authenticators, totp
from identity.users.models import User
from interaction.experience.models import SignInExperience


@dataclass(frozen=True, slots=True)
class Offer:
    """A secret to set up. ``enrolment`` is the encrypted secret, which the confirmation sends back."""

    secret: str
    uri: str
    qr_code: str
    enrolment: str


def new_offer(user: User, experience: SignInExperience, *, binding: str) -> Offer:
    """Return a new secret for a user, bound to a browser or a session."""
    enrolment = authenticators.begin(user, browser=binding)
    return _build(user, experience, enrolment.secret, enrolment.sealed)


def repeat_offer(user: User, experience: SignInExperience, sealed: str, *, binding: str) -> Offer:
    """Return the same secret again, after a wrong code.

    Raises:
        EnrolmentExpired: the secret is more than 15 minutes old, or of another user or browser.

    """
    secret = authenticators.open_enrolment(user, sealed, browser=binding)
    return _build(user, experience, secret, sealed)


def _build(user: User, experience: SignInExperience, secret: bytes, sealed: str) -> Offer:
    uri = totp.provisioning_uri(secret, account=user.identifier, issuer=experience.tenant.name)
    return Offer(totp.format_secret(secret), uri, draw(uri), sealed)


def draw(uri: str) -> str:
    """Return a QR code as an SVG data URL. Cameras need its white background and margin in both themes."""
    import segno  # noqa: PLC0415 - takes a megabyte of memory, for a page that is rarely used

    picture: str = segno.make(uri, error="m").svg_data_uri(scale=4, border=4, light="#fff")
    return picture
