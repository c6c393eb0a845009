"""What the Dockerfile does, done in a folder without an engine: its files, packages, commands and start."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.db import connection

from tests.support import second, server

pytestmark = [
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="an image is for production, so it needs PostgreSQL"
    ),
    pytest.mark.skipif(
        not os.environ.get("GATEHOUSE_THOROUGH"), reason="fetches packages: only with GATEHOUSE_THOROUGH=1"
    ),
]

DOCKERFILE = (settings.BASE_DIR / "Dockerfile").read_text().replace("\\\n", " ")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of what would be an image, built by the commands of the Dockerfile's first stage."""
    root = tmp_path_factory.mktemp("image")
    home = root / "srv/gatehouse"
    home.mkdir(parents=True)
    build, *_ = DOCKERFILE.split("\nFROM ${PYTHON}\n")
    for verb, rest in re.findall(r"^(COPY|RUN) (.+)$", build, re.MULTILINE):
        if verb == "COPY":
            *sources, target = rest.split()
            for source in sources:
                _copy(settings.BASE_DIR / source, home / target)
        elif not rest.startswith("apt-get "):  # the compiler is this machine's
            _run(rest, root)
    return root


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def _run(command: str, root: Path) -> None:
    """Run a command of the Dockerfile, with its absolute places below a folder of the test."""
    here = re.sub(r"(?<![\w.])/(srv|opt|tmp)/", rf"{root}/\1/", command)
    here = re.sub(r"^python ", f"{sys.executable} ", here)
    environment = {"PATH": os.environ["PATH"], "HOME": str(root)}
    done = subprocess.run(
        ["/bin/sh", "-c", here],
        cwd=root / "srv/gatehouse",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture
def served(image: Path, address: str) -> Iterator[str]:
    """The container's start, on the database of the run."""
    port = second.free_port()
    (start,) = re.findall(r"^CMD \[(.+)\]$", DOCKERFILE, re.MULTILINE)
    program, *arguments = re.findall(r'"([^"]+)"', start)
    environment = {
        **{name: os.environ[name] for name in ("SECRET_KEY", "ENCRYPTION_KEYS", "DATABASE_URL")},
        "BASE_URL": address,
        "PORT": str(port),
        "VAR_DIR": str(image / "var"),
        "STATIC_DIR": str(image / "srv/gatehouse/static"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    process = subprocess.Popen(
        [image / "opt/gatehouse/bin" / program, *arguments], cwd=image / "srv/gatehouse", env=environment
    )
    try:
        server.wait_for(process, f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(40)


def test_the_image_serves_people_with_style_and_is_ready(served):
    assert httpx.get(f"{served}/readyz").json() == {"status": "ok"}
    page = httpx.get(f"{served}/sign-in")
    assert page.status_code == 200
    (style, *_) = re.findall(r'href="(/static/[^"]+\.css)"', page.text)
    assert httpx.get(f"{served}{style}").status_code == 200


def test_the_image_has_what_it_needs_and_nothing_to_develop_with(image):
    packages = {path.name.split("-")[0].lower() for path in (image / "opt/gatehouse").rglob("*.dist-info")}
    assert {"django", "gunicorn", "psycopg"} <= packages
    assert not {"pytest", "playwright", "mypy", "ruff", "flask"} & packages
    assert not (image / "srv/gatehouse/tests").exists()
