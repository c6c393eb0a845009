"""The API of the sign-in experience."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from identity.rest.etags import etag, expected_versions
from interaction.experience import factor_settings, pictures, services
from interaction.experience.models import SignInExperience, default_branding, default_sign_up
from interaction.experience.serializers import ExperienceSerializer


class SignInExperienceView(APIView):
    """The sign-in experience of the tenant."""

    serializer_class = ExperienceSerializer
    etag_actions = frozenset({"get", "patch"})
    if_match_actions = frozenset({"patch"})

    def get(self, request: Request) -> Response:
        """Get the sign-in experience."""
        return _respond(services.current())

    def patch(self, request: Request) -> Response:
        """Change the sign-in experience."""
        experience = services.current()
        serializer = ExperienceSerializer(experience, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        expected = expected_versions(request, experience.pk)
        caller: Any = request.user
        fields = serializer.validated_data
        services.change(fields, expected=expected, is_proven=caller.has_signed_in_recently)
        return _respond(services.current())


def _respond(experience: SignInExperience) -> Response:
    return Response(
        {
            "id": experience.pk,
            "branding": default_branding() | pictures.add_addresses(experience.branding),
            "sign_in": experience.sign_in | {"ways": experience.ways},
            "sign_up": default_sign_up() | experience.sign_up,
            "password_policy": experience.password_policy,
            "account": experience.account | {"sign_in_notice": experience.has_sign_in_notice},
            "social_sign_in": experience.social_sign_in,
            **{
                name: factor_settings.complete(name, getattr(experience, name))
                for name in factor_settings.DEFAULTS
            },
            "forgot_password_requires_factor": experience.forgot_password_requires_factor,
            "message_templates": experience.message_templates,
            "page_texts": experience.page_texts,
            "terms_of_use_url": experience.terms_of_use_url,
            "privacy_policy_url": experience.privacy_policy_url,
            "updated_at": experience.updated_at,
        },
        headers={"ETag": etag(experience.pk, experience.version)},
    )
