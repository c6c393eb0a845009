"""Apache signs people in for the application behind it: mod_auth_openidc."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import packages
from tests.support.clients import APACHE as CLIENT
from tests.support.clients import PROGRAMS
from tests.support.relying_parties import new_origin
from tests.support.threads import wait_until
from tests.support.wire import answers

MODULE = Path("/usr/lib/apache2/modules/mod_auth_openidc.so")


@contextmanager
def apache(client, secured, origin) -> Iterator[None]:
    """Run it in a folder that its own user may read."""
    if not MODULE.exists():
        packages.lacking("mod_auth_openidc", "Debian: apt install apache2 libapache2-mod-auth-openidc")
    folder = furnished()
    process = subprocess.Popen(
        ["/usr/sbin/apache2", "-f", PROGRAMS / CLIENT.program, "-D", "FOREGROUND"],
        env=os.environ | environment(folder, client, secured, origin),
        stderr=subprocess.DEVNULL,
    )
    try:
        assert wait_until(lambda: process.poll() is not None or answers(f"{origin}/signed-out"))
        assert process.poll() is None, "Apache has ended"
        yield
        errors = (folder / "error.log").read_text()
        assert ":error]" not in errors, errors
    finally:
        process.terminate()
        process.wait(20)
        shutil.rmtree(folder)


def furnished() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="apache-"))
    folder.chmod(0o755)
    (folder / "www").mkdir()
    for name in ("page", "signed-out"):
        (folder / "www" / name).write_text(name)
    return folder


def environment(folder, client, secured, origin) -> dict[str, str]:
    """Return what its configuration names."""
    return {
        "FOLDER": str(folder),
        "PORT": origin.rpartition(":")[2],
        "ORIGIN": origin,
        "AUTHORITY": shutil.copy(secured.authority, folder),
        "ISSUER": client.world.issuer,
        "CLIENT_ID": client.client_id,
        "CLIENT_SECRET": client.secret,
    }


@pytest.fixture
def origin():
    return new_origin()


@pytest.mark.parametrize("algorithm", ["ES256", "RS256"])
def test_signs_people_in_and_tells_the_application_who_they_are(ada, secured, sign_with, origin, algorithm):
    client = ada.world.application(
        redirect_uris=[f"{origin}/callback"], post_logout_redirect_uris=[f"{origin}/signed-out"]
    )
    sign_with(client, algorithm)
    with apache(client, secured, origin):
        seen = ada.enter(ada.open(f"{origin}/page"))
        assert seen.text == "page", seen.text
        assert seen.headers["Seen-Subject"] == str(ada.user.pk)
        CLIENT.done.append("login")
        assert seen.headers["Seen-Email"] == "ada@example.com"
        CLIENT.done.append("userinfo")

        token = seen.headers["Seen-Access-Token"]
        later = ada.open(f"{origin}/callback?refresh={origin}/page&access_token={token}")
        assert str(later.url) == f"{origin}/page"
        assert later.headers["Seen-Subject"] == str(ada.user.pk)
        assert later.headers["Seen-Access-Token"] != token
        assert later.headers["Seen-Refresh-Token"] != seen.headers["Seen-Refresh-Token"]
        CLIENT.done.append("refresh")

        assert ada.is_signed_in
        end = ada.open(f"{origin}/callback?logout={origin}/signed-out")
        assert (str(end.url).partition("?")[0], end.text) == (f"{origin}/signed-out", "signed-out")
        assert not ada.is_signed_in
        CLIENT.done.append("logout")

        # It revokes what it held: else the refresh token would outlive the session.
        form = {"grant_type": "refresh_token", "refresh_token": later.headers["Seen-Refresh-Token"]}
        refused = ada.browser.post("/oidc/token", data=form, auth=client.basic)
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
        CLIENT.done.append("revocation")
