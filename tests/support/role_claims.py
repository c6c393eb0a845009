"""Give users roles and organizations, and read the claims that follow."""

from identity.organizations.models import MemberRole, Membership, Organization, OrganizationRole
from identity.roles.models import Role, UserRole
from tests.support.independent import claims_of


def give_roles(world, user, *names):
    with world.active():
        for name in names:
            role, _ = Role.objects.get_or_create(name=name, defaults={"type": Role.Type.USER})
            UserRole.objects.create(user=user, role=role)


def join(world, user, name, *roles, metadata=None):
    """Make a user a member of a new organization, and return its id."""
    with world.active():
        organization = Organization.objects.create(name=name, metadata=metadata or {})
        membership = Membership.objects.create(organization=organization, user=user)
        for each in roles:
            role, _ = OrganizationRole.objects.get_or_create(name=each)
            MemberRole.objects.create(membership=membership, role=role)
    return str(organization.pk)


def told(client, user, **asked):
    """Return the claims of the ID token, of userinfo and of the access token."""
    tokens = client.tokens_for(user, **asked)
    answer = client.userinfo(tokens["access_token"])
    assert answer.status_code == 200, answer.text
    return claims_of(tokens["id_token"]), answer.json(), claims_of(tokens["access_token"])
