"""Usernames, emails and phones: what one may look like, and when two are the same."""
# ruff: noqa: RUF001 - look-alikes are what is tested

import re
import unicodedata
from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import settings as fuzzing
from hypothesis import strategies as st

from identity.core.errors import Invalid
from identity.users import identifiers, services
from identity.users.identifiers import Kind
from identity.users.models import User
from tests.support.cast import PASSWORD

ANY_TEXT = st.text(st.characters(), max_size=140)
SEPARATORS = " -.()"
# Scripts in which every letter has one other case and nothing unfolds.
CASED = st.text(st.sampled_from("abcxyzABCXYZ0189_äöüÄÖÜéÉабвАБВαβγΑΒΓ"), min_size=6, max_size=20)

# Characters of a domain, of which some are many in NFKC.
UNFOLDING = st.text(st.sampled_from("a\ufdfa\u33ae\u00e9."), min_size=1, max_size=90)


def key(text):
    return identifiers.parse(text)


@dataclass(frozen=True)
class Refusal:
    field: str | None
    status: int = 400
    names_the_field: bool = True


def find_refusal(check, text):
    """Return how a check refuses a text, or None if the check accepts it."""
    try:
        check(text)
    except Invalid as refusal:
        named = refusal.message.startswith(f"{refusal.field}: ")
        return Refusal(refusal.field, refusal.status, named)
    return None


def accepted(check, text):
    try:
        return check(text)
    except Invalid:
        return None


class TestUsername:
    @pytest.mark.parametrize(
        "text",
        ["a", "x" * 128, "Alice", "alice.b-c_d", "1234", "12345a", "élodie", "李雷", "😀", "';--", "../.."],
    )
    def test_decision_I1_is_kept_as_it_was_given(self, text):
        assert identifiers.clean_username(text) == text

    @pytest.mark.parametrize(
        "text",
        [
            *("", "x" * 129, " a", "a ", "a b", "a\tb", "a\nb", "a\u00a0b", "a\u2003b"),
            *("a\u2028b", "a\u3000b"),
            *("a\0", "\x7f", "a\x1bb", "a\u200b", "a\u202eb", "\u00ad", "\ufeffa", "\ud800"),
            *("\ue000", "\uffff"),
        ],
    )
    def test_decision_I1_H10_without_white_space_or_control_characters(self, text):
        assert find_refusal(identifiers.clean_username, text) == Refusal("username")

    @pytest.mark.parametrize("text", ["a@b", "@", "a@b.example", "a\uff20b.example", "a\ufe6bb"])
    def test_decision_I1_without_an_at_sign_of_any_width(self, text):
        assert find_refusal(identifiers.clean_username, text) == Refusal("username")

    @pytest.mark.parametrize(
        "text",
        [
            *("12345", "+12345", "1" * 15, "(030)12345", "030-12345", "030.123.45", "(1)2(3)4-5"),
            *("１２３４５", "＋１２３４５", "①②③④⑤", "²³¹²³", "⑴⑵⑶⑷⑸"),
        ],
    )
    def test_decision_I1_not_in_the_shape_of_a_phone(self, text):
        assert find_refusal(identifiers.clean_username, text) == Refusal("username")

    def test_decision_I1_a_ligature_may_not_hide_white_space(self):
        assert " " in unicodedata.normalize("NFKC", "\ufdfa")

        assert find_refusal(identifiers.clean_username, "\ufdfa") == Refusal("username")

    def test_letters_that_unfold_into_many_fit_the_key_or_are_refused(self, acme):
        longest = "\u0390" * 128  # one letter, three when folded
        assert len(identifiers.fold(longest)) == 384

        user = acme.user(longest)

        with acme.active():
            assert User.objects.get(pk=user.pk).username == longest
        assert find_refusal(identifiers.clean_username, "\u33ae" * 128) == Refusal("username")

    @given(st.text(st.characters(exclude_categories=["C", "Z"]), max_size=140))
    @example("\ufdfa")
    @example("\u1d2c\uff20b")
    @fuzzing(max_examples=400, deadline=None)
    def test_decision_I1_an_accepted_one_can_only_mean_a_username(self, text):
        if accepted(identifiers.clean_username, text) is None:
            return

        kind, look_up = key(text)

        assert kind is Kind.USERNAME
        assert look_up == identifiers.fold(text)
        assert identifiers.detect_kind(unicodedata.normalize("NFKC", text)) is Kind.USERNAME
        assert not any(c.isspace() for c in look_up)
        assert "@" not in look_up
        assert len(look_up) <= 512


class TestEmail:
    @pytest.mark.parametrize(
        "text",
        [
            "a@b.example",
            "A.B+c@Example.COM",
            "a@[127.0.0.1]",
            "a@exämple.com",
            "1@b.example",
        ],
    )
    def test_decision_I1_is_kept_as_it_was_given(self, text):
        assert identifiers.clean_email(text) == text
        assert key(text)[0] is Kind.EMAIL

    @pytest.mark.parametrize(
        "text",
        [
            *("", "a", "a@", "@b.example", "a@b@c.example", "a b@c.example", " a@b.example", "a@b.example "),
            *("a@b.example\n", "a@b.example\r\nBcc: c@d.example", "a\r\n@b.example", "a\0@b.example"),
            *('"\x01"@b.example', '"\\\x7f"@b.example', "a@\ud800.example", "a@b..example"),
            *('"a"@b.example', '"a@b"@c.example', '"a@b.example,c@d.example,e"@f.example'),
            "a@" + "b" * 63 + "." + "c" * 63 + "." + "d" * 63 + "." + "e" * 63,
        ],
    )
    def test_case_K15_what_is_no_address_is_refused(self, text):
        assert find_refusal(identifiers.clean_email, text) == Refusal("email")

    def test_has_at_most_254_characters(self):
        name, domain = "a" * 60, ".".join(["b" * 60] * 3) + ".example"
        fitting = name + "@" + "c" * (254 - len(name) - len(domain) - 2) + "." + domain
        assert len(fitting) == 254

        assert identifiers.clean_email(fitting) == fitting
        assert find_refusal(identifiers.clean_email, fitting.replace("@c", "@cc")) == Refusal("email")

    def test_attack_AP33_its_key_has_at_most_512_characters(self):
        fitting = "a@" + "\ufdfa" * 28 + "bb.de"
        assert len(identifiers.fold(fitting)) == 2 + 28 * 18 + 5 == 511

        assert identifiers.clean_email(fitting) == fitting
        assert identifiers.clean_email(f"a{fitting}") == f"a{fitting}"
        assert find_refusal(identifiers.clean_email, f"aa{fitting}") == Refusal("email")

    @given(st.emails() | UNFOLDING.map("a@{}.example".format))
    @example("a@" + ".".join(["\ufdfa" * 20] * 3) + ".de")
    @fuzzing(max_examples=200, deadline=None)
    def test_decision_I1_an_accepted_one_can_only_mean_an_email(self, text):
        if accepted(identifiers.clean_email, text) is None:
            return

        kind, look_up = key(text)

        assert kind is Kind.EMAIL
        assert look_up == identifiers.fold(text)
        assert len(look_up) <= 512

    @given(ANY_TEXT)
    @fuzzing(max_examples=300, deadline=None)
    def test_decision_H10_an_accepted_one_is_one_printable_line(self, text):
        given_text = accepted(identifiers.clean_email, f"{text}@b.example")

        assert given_text is None or given_text.isprintable()


class TestPhone:
    @pytest.mark.parametrize(
        ("text", "kept"),
        [
            ("+86 138-0013.8000", "+8613800138000"),
            ("8613800138000", "8613800138000"),
            ("(030) 123 45", "03012345"),
            ("１２３４５", "12345"),
            ("＋４９　１７０１２３４５６７", "+491701234567"),
            ("12345", "12345"),
            ("+12345", "+12345"),
            ("1" * 15, "1" * 15),
            ("1\u00a02345", "12345"),
            ("0049 170 1234567", "00491701234567"),
        ],
    )
    def test_decision_I2_keeps_the_text_less_separators(self, text, kept):
        assert identifiers.clean_phone(text) == kept

    @pytest.mark.parametrize(
        "text",
        [
            *("", "+", "1234", "1" * 16, "++12345", "12+345", "12345+", "abcde", "12345x6", "12345;ext=6"),
            *("12345\n", "\t12345", "12/345", "12–345", "12345\0", "*100#", "١٢٣٤٥", "१२३४५", "-+-"),
        ],
    )
    def test_decision_I2_anything_else_is_refused(self, text):
        assert find_refusal(identifiers.clean_phone, text) == Refusal("phone")

    @pytest.mark.parametrize(
        "text",
        [
            *("8613800138000", "+8613800138000", "+86 138 0013 8000", "(86) 138-0013-8000"),
            "86.138.0013.8000",
            *("８６１３８００１３８０００", "＋８６ 138 0013 8000"),
        ],
    )
    def test_decision_I2_the_digits_make_two_phones_the_same(self, text):
        assert identifiers.phone_key(identifiers.clean_phone(text)) == "8613800138000"
        assert key(text) == (Kind.PHONE, "8613800138000")

    def test_decision_I2_00_is_not_plus(self):
        assert key("0049 170 1234567") != key("+49 170 1234567")

    @given(
        st.text("0123456789", min_size=5, max_size=15),
        st.booleans(),
        st.lists(st.tuples(st.integers(0, 20), st.sampled_from(SEPARATORS)), max_size=8),
        st.booleans(),
    )
    def test_decision_I2_separators_plus_and_width_do_not_matter(self, digits, plus, inserted, wide):
        spelt = list("+" + digits if plus else digits)
        for place, separator in inserted:
            spelt.insert(place % (len(spelt) + 1), separator)
        text = "".join(spelt)
        if wide:
            text = "".join(chr(ord(c) + 0xFEE0) if c.isdigit() or c == "+" else c for c in text)

        assert identifiers.clean_phone(text) == ("+" if plus else "") + digits
        assert key(text) == (Kind.PHONE, digits)

    @given(st.text(st.sampled_from("0123456789+ -.()１２３＋①²٣५\u00a0\n"), min_size=3, max_size=20))
    @fuzzing(max_examples=500, deadline=None)
    def test_decision_I2_what_is_kept_is_ascii_and_fits(self, text):
        kept = accepted(identifiers.clean_phone, text)

        assert kept is None or re.fullmatch(r"\+?[0-9]{5,15}", kept)


class TestDefaultRegion:
    """PHONE_DEFAULT_REGION turns national numbers into international ones."""

    @pytest.mark.parametrize(
        ("region", "text", "kept"),
        [
            ("CN", "138 0013 8000", "+8613800138000"),
            ("CN", "8613800138000", "+8613800138000"),
            ("CN", "+8613800138000", "+8613800138000"),
            ("DE", "0170 1234567", "+491701234567"),
            ("DE", "4917012345678", "+4917012345678"),
            ("DE", "０１７０ １２３４５６７", "+491701234567"),
            ("GB", "020 7946 0018", "+442079460018"),
            ("US", "(650) 253-0000", "+16502530000"),
            ("US", "1 650 253 0000", "+16502530000"),
            ("FR", "06 12 34 56 78", "+33612345678"),
            ("DE", "+33 6 12 34 56 78", "+33612345678"),
        ],
    )
    def test_decision_I2_national_numbers_become_e164(self, settings, region, text, kept):
        settings.PHONE_DEFAULT_REGION = region

        assert identifiers.clean_phone(text) == kept
        assert key(text) == (Kind.PHONE, kept.removeprefix("+"))

    @pytest.mark.parametrize(
        ("region", "text"),
        [("DE", "12345"), ("US", "8613800138000"), ("GB", "110110"), ("DE", "0049 170 1234567")],
    )
    def test_decision_I2_what_is_no_number_there_stays_as_it_is(self, settings, region, text):
        settings.PHONE_DEFAULT_REGION = region

        assert identifiers.clean_phone(text) == text.replace(" ", "")

    def test_decision_I2_what_is_too_long_with_its_country_code_stays_as_it_is(self, settings):
        settings.PHONE_DEFAULT_REGION = "DE"

        assert identifiers.clean_phone("030 777777777777") == "030777777777777"
        assert key("030 777777777777") == (Kind.PHONE, "030777777777777")

    @pytest.mark.parametrize("region", ["CN", "DE", "US", "GB", "FR", "IN", "BR", "AU"])
    def test_decision_I2_with_and_without_plus_are_still_the_same(self, settings, region):
        import phonenumbers  # noqa: PLC0415 - for its example numbers

        settings.PHONE_DEFAULT_REGION = region
        number = phonenumbers.example_number_for_type(region, phonenumbers.PhoneNumberType.MOBILE)
        assert number is not None
        international = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
        national = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)

        spellings = {key(text) for text in (international, international[1:], national)}

        assert spellings == {(Kind.PHONE, international[1:])}

    def test_one_phone_is_one_user_however_it_is_typed(self, acme, settings):
        settings.PHONE_DEFAULT_REGION = "DE"
        user = acme.user(phone="0170 1234567")

        with acme.active():
            for text in ("+49 170 1234567", "491701234567", "(0170) 123-4567"):
                assert User.objects.find_by_identifier(text).get() == user
                with pytest.raises(Invalid, match="phone: already exists"):
                    services.create(username=f"x{len(text)}", password=PASSWORD, phone=text)


class TestSameness:
    """Two spellings of one identifier find the same user, and cannot be two users."""

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("alice", "ALICE"),
            ("alice", "Alice"),
            ("alice", "ａｌｉｃｅ"),
            ("alice", "𝒶𝓁𝒾𝒸𝑒"),
            ("straße", "STRASSE"),
            ("straße", "strasse"),
            ("ΣΊΣΥΦΟΣ", "σίσυφος"),
            ("ﬁsh", "fish"),
            ("kelvin", "\u212aelvin"),
            ("ångström", "\u212bngström"),
            ("é", "e\u0301"),
            ("É", "e\u0301"),
            ("ǆ", "Ǆ"),
        ],
    )
    def test_case_H07_usernames_without_regard_to_case_and_width(self, acme, first, second):
        user = acme.user(first)

        with acme.active():
            assert User.objects.find_by_identifier(second).get() == user
            with pytest.raises(Invalid) as refusal:
                services.create(username=second, password=PASSWORD)

        assert refusal.value.message == "username: already exists"

    @pytest.mark.parametrize(
        ("first", "second"),
        [("alice", "аlice"), ("alice", "alíce"), ("paypal", "paypaI"), ("a1", "al"), ("rn", "m"), ("o", "0")],
    )
    def test_what_only_looks_alike_is_another_user(self, acme, first, second):
        one, other = acme.user(first), acme.user(second)

        with acme.active():
            assert User.objects.find_by_identifier(first).get() == one
            assert User.objects.find_by_identifier(second).get() == other

    def test_decision_I1_emails_without_regard_to_case(self, acme):
        user = acme.user(email="Alice@Example.com")

        with acme.active():
            assert User.objects.find_by_identifier("aLICE@eXAMPLE.COM").get() == user
            assert User.objects.get(pk=user.pk).email == "Alice@Example.com"
            with pytest.raises(Invalid, match="email: already exists"):
                services.create(username="other", password=PASSWORD, email="alice@example.com")

    def test_white_space_around_what_a_person_types_does_not_count(self, acme):
        user = acme.user("alice", email="a@b.example", phone="+4930123456")

        with acme.active():
            for typed in (" alice ", "\talice", " A@B.example", "a@b.example\n", " +49 30 123456 "):
                assert User.objects.find_by_identifier(typed).get() == user

    def test_decision_I1_an_identifier_can_mean_one_user_only(self, acme):
        by_name = acme.user("bob")
        by_email = acme.user("carol", email="bob@b.example")
        by_phone = acme.user("dave", phone="4930123456")

        with acme.active():
            found = [
                User.objects.find_by_identifier(text).get() for text in ("bob", "bob@b.example", "4930123456")
            ]

        assert found == [by_name, by_email, by_phone]

    def test_nobody_is_known_by_nothing(self, acme):
        acme.user("alice")

        with acme.active():
            for typed in ("", " ", "\n", "+", "@", "()"):
                assert not User.objects.find_by_identifier(typed).exists()

    @given(CASED)
    def test_decision_I1_case_makes_no_second_key(self, text):
        assert {identifiers.fold(text.upper()), identifiers.fold(text.lower())} == {identifiers.fold(text)}

    @given(ANY_TEXT)
    @fuzzing(max_examples=300, deadline=None)
    def test_decision_I1_normal_forms_make_no_second_key(self, text):
        forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")]

        assert {identifiers.fold(form) for form in forms} == {identifiers.fold(text)}

    @given(ANY_TEXT)
    @fuzzing(max_examples=300, deadline=None)
    def test_whatever_is_typed_has_a_kind_and_a_key(self, text):
        kind, look_up = key(text)

        assert kind in Kind
        assert isinstance(look_up, str)
        assert key(text) == (kind, look_up)
