"""``manage.py doctor`` behind TLS: certificates, and cookies that are not secure."""

import os
import ssl
from collections.abc import Iterator
from datetime import timedelta

import pytest
import trustme
from django.utils import timezone

from tests.support import tls
from tests.support.doctor import examined, message


class TestTls:
    @pytest.fixture
    def front(self, address, settings) -> Iterator[trustme.CA]:
        """TLS in front of the server of the run, with a certificate for three more days."""
        authority = trustme.CA()
        shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("localhost", not_after=timezone.now() + timedelta(days=3)).configure_cert(shown)
        at = tls.listening()
        with tls.terminated(at, shown, int(os.environ["TEST_PORT"])):
            settings.BASE_URL = f"https://localhost:{at.getsockname()[1]}"
            yield authority

    def test_a_certificate_that_nobody_vouches_for(self, front):
        found = examined()

        assert "certificate" in message(found, "address.E003")
        assert "address.E001" not in found

    def test_a_certificate_that_soon_expires_and_cookies_that_are_not_secure(
        self, front, tmp_path, monkeypatch
    ):
        trusted = tmp_path / "authority.pem"
        front.cert_pem.write_to_path(trusted)
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))

        found = examined()

        assert "expires in 2 days" in message(found, "address.W004")
        # The server behind it believes to be served in clear: another issuer, and plain cookies.
        assert "whose issuer is http://" in message(found, "address.E002")
        assert "__Host-" in message(found, "address.E007")
