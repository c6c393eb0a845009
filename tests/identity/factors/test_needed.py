"""Whether a sign-in needs a second factor, and which: a table, and what holds whatever the table says.

A row's factors are T (authenticator), W (passkey), B (backup code), E (email code) and P (phone code).
``strict`` is 1 if an organization of the user requires two factors, and ``request`` if the request names one.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from identity.factors.kinds import FactorType
from identity.factors.needed import AvailableFactors, Demands, FirstFactor, Need, Proven, find_need
from identity.factors.policy import OFF, Policy, Prompt, SocialRule
from identity.users.identifiers import Kind
from tests.support.needed_table import REACHABLE, answer, reachable, read_rows

_WAYS = [
    FirstFactor.PASSWORD,
    FirstFactor.CODE,
    FirstFactor.SOCIAL,
    FirstFactor.LINKING,
    FirstFactor.PASSKEY,
    FirstFactor.RECOVERY,
    FirstFactor.REGISTER,
]


def test_the_table_is_long_and_says_nothing_twice():
    questions = [tuple(list(row.values())[:16]) for row in read_rows()]
    assert len(questions) >= 200
    assert len(set(questions)) == len(questions)


@pytest.mark.parametrize("row", read_rows(), ids=lambda row: " ".join(row.values()))
def test_decision_M12_M58_the_table_holds(row):
    given = answer(row)

    assert given == {name: row[name] for name in given}


@pytest.mark.parametrize("row", REACHABLE)
def test_decision_M39_a_level_can_be_reached_with_a_factor_that_there_is_or_can_be(row):
    assert reachable(row) is row[-1]


policies = st.builds(
    Policy,
    st.frozensets(st.sampled_from(FactorType)),
    st.sampled_from(Prompt),
    st.sampled_from([Prompt.NO_PROMPT, Prompt.MANDATORY]),
    st.sampled_from(SocialRule),
)
factors = st.builds(
    AvailableFactors,
    st.integers(0, 15),
    st.booleans(),
    st.frozensets(st.sampled_from([Kind.EMAIL, Kind.PHONE])),
    st.booleans(),
)
proofs = st.builds(
    Proven,
    st.sampled_from(_WAYS),
    st.integers(1, 4),
    st.frozensets(st.sampled_from([Kind.EMAIL, Kind.PHONE])),
    st.booleans(),
)
asked = st.builds(
    Demands,
    st.dictionaries(st.sampled_from(["acr", "application"]), st.integers(1, 4)),
    st.dictionaries(st.sampled_from(["acr", "application"]), st.integers(1, 4)),
    st.booleans(),
    st.sampled_from([(), ("new_browser",)]),
)


@given(policies, factors, proofs, asked, st.booleans())
def test_decision_M12_what_holds_for_every_sign_in(policy, who, proven, demands, remembered):
    need = find_need(policy, who, proven, demands, is_remembered=remembered)
    usable = who.get_usable(policy, proven.channels)

    if policy == OFF:  # only a request can demand a level, which another sign-in may reach
        assert set(need.reasons) <= demands.essential.keys()
    if need.is_nothing:
        assert need == Need() if not policy.factors else need.least == 0
    else:
        assert need.least > proven.level
        assert need.reasons
        # Only factors that the tenant has and, to prove them, the person has.
        assert set(need.methods) <= set(usable)
        assert set(need.enrolable) <= policy.factors
        # Nothing but a second factor, or an administrator's word, adds one beside another.
        is_recovery = proven.way == FirstFactor.RECOVERY
        assert not need.enrolable or not usable or proven.level > 1 or is_recovery
        # A user who just declined is not asked again for what may be declined.
        assert not (need.may_skip and proven.skips)
    # What must be met is met, or asked for.
    if policy.factors and max(demands.essential.values(), default=0) > proven.level:
        assert not need.is_nothing
        assert not need.may_skip
    trusted = {FirstFactor.SOCIAL} if usable else {FirstFactor.SOCIAL, FirstFactor.LINKING}
    waived = remembered or (proven.way in trusted and policy.social is SocialRule.SKIP)
    if policy.factors and policy.prompt is Prompt.MANDATORY and proven.level == 1 and not waived:
        assert not need.is_nothing
        assert not need.may_skip


@given(policies, factors, proofs, asked)
def test_a_remembered_browser_is_never_asked_for_more(policy, who, proven, demands):
    always = find_need(policy, who, proven, demands, is_remembered=False)
    remembered = find_need(policy, who, proven, demands, is_remembered=True)

    # A wish or an offer may take the place of what must be.
    assert remembered.least <= always.least or remembered.may_skip


@given(policies, factors, proofs, st.booleans())
def test_decision_M18_only_a_remembered_browser_waives_the_organization_of_the_request(
    policy, who, proven, remembered
):
    demands = Demands(for_strict_organization=True)

    need = find_need(policy, who, proven, demands, is_remembered=remembered)

    if policy.factors and not remembered and proven.level == 1:
        assert need.least >= 2
        assert not need.may_skip
        if proven.way != FirstFactor.RECOVERY:
            assert "organization" in need.reasons
    elif remembered or not policy.factors:
        assert "organization" not in need.reasons
