"""Settings from the environment: what is refused, and that the message names what to change."""

import pytest

from config import env
from tests.support.environment import broken_rule


class TestText:
    def test_white_space_around_it_does_not_count(self, variable):
        variable("  a b\n")

        assert env.text("SOME_VARIABLE") == "a b"

    @pytest.mark.parametrize("value", ["", " ", "\n"])
    def test_an_empty_one_is_none(self, variable, value):
        variable(value)

        assert env.text("SOME_VARIABLE", "default") == "default"
        assert env.integer("SOME_VARIABLE", 7) == 7
        assert env.flag("SOME_VARIABLE", default=True) is True
        assert env.listing("SOME_VARIABLE") == []
        assert env.addresses("SOME_VARIABLE") == set()
        assert env.region("SOME_VARIABLE") == ""


class TestFlag:
    @pytest.mark.parametrize("value", ["true", "TRUE", "True", "1", "yes", "on", " on "])
    def test_yes(self, variable, value):
        variable(value)

        assert env.flag("SOME_VARIABLE") is True

    @pytest.mark.parametrize("value", ["false", "False", "0", "no", "OFF"])
    def test_no(self, variable, value):
        variable(value)

        assert env.flag("SOME_VARIABLE", default=True) is False

    @pytest.mark.parametrize("value", ["maybe", "2", "t", "y", "truee", "-1", "null"])
    def test_anything_else_is_refused(self, variable, value):
        variable(value)

        assert value in broken_rule(env.flag)


class TestInteger:
    @pytest.mark.parametrize("value", ["1", "10", " 5 "])
    def test_within_bounds(self, variable, value):
        variable(value)

        assert env.integer("SOME_VARIABLE", 3, least=1, most=10) == int(value)

    @pytest.mark.parametrize("value", ["0", "11", "-1", "1.5", "1e1", "ten", "0x5", "5s", "9" * 400])
    def test_anything_else_is_refused(self, variable, value):
        variable(value)

        assert broken_rule(env.integer, 3, least=1, most=10)


class TestAddresses:
    @pytest.mark.parametrize(
        ("value", "read"),
        [
            ("10.0.0.1", {"10.0.0.1"}),
            ("10.0.0.1, 10.0.0.2,", {"10.0.0.1", "10.0.0.2"}),
            ("2001:DB8::0001", {"2001:db8::1"}),
            ("::1", {"::1"}),
        ],
    )
    def test_ip_addresses_as_connections_spell_them(self, variable, value, read):
        variable(value)

        assert env.addresses("SOME_VARIABLE") == read

    @pytest.mark.parametrize(
        "value", ["10.0.0.0/8", "proxy", "localhost", "10.0.0", "10.0.0.1;10.0.0.2", "*", "10.0.0.1:80"]
    )
    def test_what_would_never_match_is_refused(self, variable, value):
        variable(value)

        assert broken_rule(env.addresses)


class TestBaseUrl:
    @pytest.mark.parametrize(
        ("value", "read"),
        [
            ("https://id.example.com", "https://id.example.com"),
            ("https://id.example.com/", "https://id.example.com"),
            ("https://ID.Example.com:8443", "https://id.example.com:8443"),
            ("HTTPS://id.example.com", "https://id.example.com"),
            ("http://localhost:8000", "http://localhost:8000"),
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
            ("http://[::1]:8000", "http://[::1]:8000"),
            ("https://xn--exmple-cua.com", "https://xn--exmple-cua.com"),
        ],
    )
    def test_scheme_host_and_port(self, variable, value, read):
        variable(value)

        assert env.base_url("SOME_VARIABLE", "", development=False) == read

    @pytest.mark.parametrize(
        "value",
        [
            *("https://id.example.com/path", "https://id.example.com/t/acme", "https://id.example.com?x=1"),
            *("https://id.example.com#x", "id.example.com", "//id.example.com", "ftp://id.example.com"),
            *("https://", "https:///path", "https://:8443", "https://user@id.example.com", "https://u:p@h"),
            *("https://@h", "https://id.example.com:port", "https://id.example.com:99999", "https://h:"),
            *("https://[::1", "https://id example.com", "https://id.example.com\\x", "https://exämple.com"),
            *("https://id.example.com:443", "http://localhost:80", "https://h,https://i"),
        ],
    )
    def test_anything_else_is_refused(self, variable, value):
        variable(value)

        assert broken_rule(env.base_url, "", development=False)
        assert broken_rule(env.base_url, "", development=True)

    @pytest.mark.parametrize(
        "value", ["http://id.example.com", "http://10.0.0.1", "http://localhost.example.com"]
    )
    def test_production_asks_for_https(self, variable, value):
        variable(value)

        assert broken_rule(env.base_url, "", development=False) == "must be https in production"
        assert env.base_url("SOME_VARIABLE", "", development=True) == value

    def test_production_has_no_default(self):
        assert "required" in broken_rule(env.base_url, "", development=False)


class TestCache:
    @pytest.mark.parametrize("value", ["redis://localhost", "rediss://user:pw@cache.example:6380/2"])
    def test_redis(self, variable, value):
        variable(value)

        assert env.redis_url("SOME_VARIABLE") == value

    @pytest.mark.parametrize(
        "value", ["memcached://h", "localhost:6379", "redis://h:port", "redis://[::1", "http://h"]
    )
    def test_anything_else_is_refused(self, variable, value):
        variable(value)

        assert broken_rule(env.redis_url)


class TestRegion:
    @pytest.mark.parametrize(("value", "read"), [("DE", "DE"), ("gb", "GB"), (" cn ", "CN")])
    def test_a_region(self, variable, value, read):
        variable(value)

        assert env.region("SOME_VARIABLE") == read

    @pytest.mark.parametrize("value", ["UK", "ZZ", "XX", "D", "DEU", "49", "+49", "Germany"])
    def test_what_is_none_is_refused(self, variable, value):
        variable(value)

        assert broken_rule(env.region)
