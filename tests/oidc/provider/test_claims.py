"""Which claims scopes release, and which values they have."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from database import batching
from identity.core.tenancy import DEFAULT_ID
from identity.users.models import User
from oidc.provider import claims, organizations
from oidc.provider.affiliations import Affiliations, MemberOrganization
from oidc.provider.claim_facts import ClaimFacts

SOMEBODY = uuid4()
NEW = {"given_name", "family_name", "birthdate", "website", "zoneinfo"}


class TestNames:
    @pytest.mark.parametrize(
        ("scopes", "names"),
        [
            ((), set()),
            (("openid", "offline_access"), set()),
            (("email",), {"email", "email_verified"}),
            (("phone",), {"phone_number", "phone_number_verified"}),
            (("address", "roles", "groups"), {"address", "roles", "groups"}),
        ],
    )
    def test_are_those_of_the_scopes(self, scopes, names):
        assert claims.get_names(scopes) == names

    def test_of_the_old_profile_are_those_that_its_page_named(self):
        old = claims.without_new_profile(claims.get_names(("profile", "email")))

        assert claims.get_names(("profile",)) > NEW
        assert old == {
            *("name", "username", "preferred_username", "picture", "gender", "updated_at"),
            *("email", "email_verified"),
        }

    def test_of_an_id_token_are_fewer_unless_they_are_requested(self):
        scopes = ("profile", "email", "phone", "address", "roles", "groups", "organizations")

        assert claims.get_id_token_names(scopes) == {
            *("name", "username", "preferred_username", "picture", "email", "email_verified"),
            *("roles", "groups"),
        }
        assert claims.get_id_token_names(("phone",), ("phone_number",)) == {"phone_number"}


class TestValues:
    ALL = claims.get_names(("profile", "email", "phone", "address"))

    def user(self, **fields):
        given = {"name": "Ada", "username": "ada", "avatar": "https://a.example/1", "tenant_id": DEFAULT_ID}
        return User(updated_at=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC), **given | fields)

    def test_are_those_of_the_user(self):
        user = self.user(email="ada@x.org", email_verified=True, phone="+491", phone_verified=False)
        user.profile = {"given_name": "Ada", "gender": "female"}

        assert claims.get_values(user, self.ALL) == {
            "name": "Ada",
            "username": "ada",
            "preferred_username": "ada",
            "picture": "https://a.example/1",
            "gender": "female",
            "given_name": "Ada",
            "updated_at": 1767323045,
            "email": "ada@x.org",
            "email_verified": True,
            "phone_number": "+491",
            "phone_number_verified": False,
        }

    def test_are_only_the_named_ones_that_are_set(self):
        user = self.user(email="", phone="", avatar="", email_verified=True, phone_verified=True)

        assert claims.get_values(user, self.ALL).keys() == {
            *("name", "username", "preferred_username", "updated_at"),
        }
        assert claims.get_values(user, {"name", "email"}) == {"name": "Ada"}
        assert claims.get_values(user, ()) == {}

    @pytest.mark.parametrize(
        ("profile", "custom", "gender"),
        [
            ({"gender": "x"}, "y", "x"),
            ({}, "y", "y"),
            ({}, 7, None),
            ({}, None, None),
            ({"gender": ""}, "y", "y"),
        ],
    )
    def test_of_gender_are_texts_of_the_profile_or_the_custom_data(self, profile, custom, gender):
        user = self.user(custom_data={"gender": custom})
        user.profile = profile

        assert claims.get_values(user, {"gender"}).get("gender") == gender


class TestOrganizations:
    HOSPITAL, SCHOOL = (
        UUID("0197b0a0-0000-7000-8000-000000000001"),
        UUID("0197b0a0-0000-7000-8000-000000000002"),
    )
    BOTH = ("organizations", "organization_roles")

    @pytest.fixture
    def facts(self, reads):
        """Build the facts of a token, for an organization if one is named."""
        user = User(pk=SOMEBODY, tenant_id=DEFAULT_ID)
        return lambda organization_id=None: ClaimFacts(user, organization_id)

    @pytest.fixture
    def reads(self, monkeypatch):
        """How often the affiliations were read."""
        now = datetime.now(UTC)
        joined = [
            MemberOrganization(self.HOSPITAL, "Hospital", True, now, ["owner", "nurse"]),
            MemberOrganization(self.SCHOOL, "School", False, now),
        ]
        read: list[UUID] = []

        def read_all(user_id, organization_id):
            yield from ()
            read.append(user_id)
            found = {each.id: each for each in joined}
            return Affiliations(
                organization_id is not None, organizations=found, current=found.get(organization_id)
            )

        monkeypatch.setattr("oidc.provider.affiliations.read", read_all)
        return read

    def test_are_those_that_are_named(self, facts, reads):
        assert batching.run(organizations.get_claims(facts(), self.BOTH)) == {
            "organizations": [str(self.HOSPITAL), str(self.SCHOOL)],
            "organization_roles": [f"{self.HOSPITAL}:nurse", f"{self.HOSPITAL}:owner"],
        }
        assert batching.run(organizations.get_claims(facts(), ["organizations"])).keys() == {"organizations"}
        assert reads == [SOMEBODY, SOMEBODY]

    def test_are_at_userinfo_for_a_token_without_an_organization(self, facts):
        found = batching.run(organizations.get_userinfo_claims(facts(), ["organizations"]))

        assert found == {"organizations": [str(self.HOSPITAL), str(self.SCHOOL)]}

    def test_that_nobody_asks_for_are_not_read(self, facts, reads):
        assert batching.run(organizations.get_claims(facts(), ["email"])) == {}
        assert batching.run(organizations.get_userinfo_claims(facts(), ["email"])) == {}
        assert reads == []

    @pytest.mark.parametrize(("organization", "is_admin"), [(HOSPITAL, True), (SCHOOL, False)])
    def test_that_the_token_is_for_is_described(self, facts, organization, is_admin):
        found = batching.run(organizations.get_userinfo_claims(facts(organization), ["email"]))

        assert found == {"organization_id": str(organization), "organization_is_admin": is_admin}

    def test_that_the_user_has_left_is_omitted(self, facts):
        found = batching.run(organizations.get_userinfo_claims(facts(uuid4()), ["organizations"]))

        assert found == {"organizations": [str(self.HOSPITAL), str(self.SCHOOL)]}
