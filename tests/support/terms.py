"""The terms of use and the privacy policy that a sign-in page asks to agree to."""

from interaction.experience import services as experiences
from tests.support.cast import World

TERMS, PRIVACY = "https://acme.example/terms", "https://acme.example/privacy"
MUST = "Tick this box to create an account."


def ask(world: World, terms: str = TERMS, privacy: str = PRIVACY, **sign_up: object) -> None:
    fields = {"sign_up": {"agree_to_terms": "manual"} | sign_up}
    with world.active():
        experiences.change(
            fields | {"terms_of_use_url": terms, "privacy_policy_url": privacy}, is_proven=True
        )
