"""A process that has no file descriptor left: it still sends 503."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings

PATHS = ("/.well-known/jwks.json", "/sign-in", "/api/interaction/sign-in-experience")
# As gunicorn loads the application before it forks workers. The worker then can open nothing.
SCRIPT = """
import io, json, resource, sys
from config import gunicorn, wsgi

gunicorn.when_ready(None)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
host, language, *paths = sys.argv[1:]

def answer(status, headers, failure=None):
    print(json.dumps([path, status, dict(headers).get("Retry-After")]))

for path in paths:
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": host,
        "HTTP_ACCEPT_LANGUAGE": language,
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(),
        "wsgi.errors": sys.stderr,
    }
    list(wsgi.application(environ, answer))
"""


def serve(language, *paths, **environment):
    """Send requests to such a process, and return path, status and ``Retry-After`` of each response."""
    host = settings.BASE_URL.partition("//")[2]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, host, language, *paths],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"} | environment,
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


@pytest.mark.parametrize("language", ["", "de"])
def test_fault_R13_503_when_nothing_was_asked_for_before(database, language):
    answers, _ = serve(language, *PATHS)

    assert answers == [[path, "503 Service Unavailable", "2"] for path in PATHS]


def test_a_server_without_static_files_starts(database, tmp_path):
    """Its pages fail, and its API does not."""
    answers, log = serve("", "/.well-known/jwks.json", VAR_DIR=str(tmp_path))

    assert answers == [["/.well-known/jwks.json", "503 Service Unavailable", "2"]]
    assert "no page can be rendered: run manage.py collectstatic" in log
