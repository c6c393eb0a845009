"""Secrets from the environment: the secret key, and the keys of encryption."""

import base64
import secrets
import stat

import pytest

from config import encryption_keys, env
from tests.support.environment import KEY, OTHER_KEY, broken_rule


class TestSecret:
    def test_production_needs_one(self, tmp_path):
        assert "required" in broken_rule(env.secret, development=False, kept_in=tmp_path / "s")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        "value",
        [
            *("short", "x" * 31, "x" * 64, "0" * 40, "ab" * 30),
            *("change-me-change-me-change-me-change-me", "django-insecure-2#k3j4h5g6f7d8s9a0q1w2e3r4t5"),
            "my-secret-key-my-secret-key-my-secret-key",
            "CHANGEME" + "abcdefghijklmnopqrstuvwxyz0123456789",
        ],
    )
    @pytest.mark.parametrize("development", [True, False])
    def test_case_F25_a_short_or_default_one_is_refused_and_not_repeated(
        self, variable, tmp_path, value, development
    ):
        variable(value)

        rule = broken_rule(env.secret, development=development, kept_in=tmp_path / "s")

        assert value not in rule

    def test_a_random_one_is_taken(self, variable, tmp_path):
        variable(value := secrets.token_urlsafe(48))

        assert env.secret("SOME_VARIABLE", development=False, kept_in=tmp_path / "s") == value

    def test_case_K17_development_makes_one_up_and_keeps_it_to_itself(self, tmp_path):
        path = tmp_path / "folder" / "secret"

        first = env.secret("SOME_VARIABLE", development=True, kept_in=path)
        second = env.secret("SOME_VARIABLE", development=True, kept_in=path)

        assert first == second
        assert len(first) >= 32
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_two_installations_have_two(self, tmp_path):
        made = {env.secret("SOME_VARIABLE", development=True, kept_in=tmp_path / str(n)) for n in range(5)}

        assert len(made) == 5

    @pytest.mark.parametrize("content", [b"", b"\n", b"short", b"\xff" * 64])
    def test_a_file_that_was_damaged_is_refused(self, tmp_path, content):
        path = tmp_path / "secret"
        path.write_bytes(content)

        rule = broken_rule(env.secret, development=True, kept_in=path)

        assert str(path) in rule

    def test_a_place_that_cannot_be_is_refused(self, tmp_path):
        (tmp_path / "file").write_text("")

        rule = broken_rule(env.secret, development=True, kept_in=tmp_path / "file" / "secret")

        assert "secret" in rule


class TestEncryptionKeys:
    def ring(self, tmp_path, *, development=False):
        return encryption_keys.ring("SOME_VARIABLE", development=development, kept_in=tmp_path / "key")

    def test_the_first_encrypts(self, variable, tmp_path):
        variable(f"{OTHER_KEY}, {KEY}")

        assert list(self.ring(tmp_path).values()) == [bytes(range(100, 132)), bytes(range(32))]

    def test_padding_and_the_other_alphabet_do_not_matter(self, variable, tmp_path):
        key = b"\xff\xfe\xfb" * 6 + bytes(range(14))
        spellings = (
            base64.urlsafe_b64encode(key),
            base64.b64encode(key),
            base64.urlsafe_b64encode(key).rstrip(b"="),
        )

        read = []
        for spelling in spellings:
            variable(spelling.decode())
            read.append(self.ring(tmp_path))

        assert read[0] == read[1] == read[2]

    @pytest.mark.parametrize(
        "value",
        [
            *("", "x", ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,", KEY[:-4], KEY + KEY),
            *(f"{KEY} {KEY}", f"{KEY},short"),
            *(base64.urlsafe_b64encode(bytes(32)).decode(), base64.urlsafe_b64encode(b"a" * 32).decode()),
            *("not base64 at all, but long enough to be one", "é" * 43),
        ],
    )
    def test_case_F25_anything_but_32_random_bytes_is_refused(self, variable, tmp_path, value):
        variable(value)

        rule = broken_rule(encryption_keys.ring, development=False, kept_in=tmp_path / "key")

        assert not value or value not in rule

    def test_development_makes_one_up(self, tmp_path):
        first, second = self.ring(tmp_path, development=True), self.ring(tmp_path, development=True)

        assert first == second
        assert [len(key) for key in first.values()] == [32]
        assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
