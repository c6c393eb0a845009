"""How-to pages as a reader follows them: register, install, configure, save the files, run."""

import importlib.metadata
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import httpx
from django.conf import settings

from tests.support import packages, second
from tests.support.management import superuser

FOLDER: Final = settings.BASE_DIR / "docs/how-to"
_PORT: Final = "5050"
_SECTION: Final = re.compile(r"^## (?:\d+\. )?(.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_FENCE: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE: Final = re.compile(r"Save as `(.+)`")


class Page:
    """A page of ``docs/how-to``, with a port that is free in place of the one that it names."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = (FOLDER / f"{name}.md").read_text()
        self.port = str(second.free_port())
        self.sections: dict[str, str] = dict(_SECTION.findall(self.text.replace(_PORT, self.port)))

    @property
    def files(self) -> dict[str, str]:
        """Return each file's content by its name."""
        return {
            named[1]: _FENCE.findall(text)[0][1]
            for title, text in self.sections.items()
            if (named := _FILE.fullmatch(title))
        }

    def commands(self, section: str, *kinds: str) -> str:
        """Return the commands of a section."""
        kinds = kinds or ("sh", "bash")
        return "".join(code for kind, code in _FENCE.findall(self.sections[section]) if kind in kinds)

    @property
    def address(self) -> str:
        """Return the address that the page says to open."""
        return str(re.findall(r"<(http://[^>]+)>", self.sections["Run"])[0])

    def installed(self) -> list[str]:
        """Return the packages that the page installs."""
        lines = re.findall(r"^(?:pip|npm|sudo apt) install (.+)$", self.commands("Install"), re.MULTILINE)
        return [re.split(r"[\[@=]", name.strip("\"'"))[0] for line in lines for name in line.split()]


def register(page: Page, world: Any, **environment: str) -> Any:
    """Run the commands of the page that register the application, and return the last answer."""
    if shutil.which("curl") is None:
        packages.lacking("curl", "Debian: apt install curl")
    known = {"ISSUER": world.issuer, "TOKEN": str(superuser(world).token)} | environment
    return get_last(shell(page.commands("Register"), known))["result"]


def get_last(text: str) -> Any:
    """Return the last of several JSON documents."""
    document: Any = None
    decoder = json.JSONDecoder()
    while text := text.strip():
        document, end = decoder.raw_decode(text)
        text = text[end:]
    return document


def shell(commands: str, environment: dict[str, str] | None = None, folder: Path | None = None) -> str:
    done = subprocess.run(
        ["/bin/bash", "-euc", commands],
        cwd=folder,
        env=os.environ | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write(page: Page, folder: Path) -> None:
    """Save the page's files."""
    for name, content in page.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


def configuration(page: Page, **values: str) -> str:
    """Return the page's commands that set variables, with the values that it leaves to the reader."""
    commands = page.commands("Configure")
    for name, value in values.items():
        commands = re.sub(rf"\b{name}=…", f"{name}='{value}'", commands)
    assert "…" not in commands, commands
    return commands


@contextmanager
def running(page: Page, folder: Path, **values: str) -> Iterator[str]:
    """Run the program of a page in a folder, and yield the address that the page says to open."""
    with started(page, folder, **values) as process:
        _wait_for(process, page.address, folder / "log")
        yield page.address


@contextmanager
def started(page: Page, folder: Path, **values: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the program of a page in a folder, where ``log`` has what it says."""
    write(page, folder)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["/bin/bash", "-euc", configuration(page, **values) + page.commands("Run", "sh")],
            cwd=folder,
            env=os.environ | _environment(page, folder),
            stdout=log,
            stderr=log,
            start_new_session=True,  # some start other processes, which end with it
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)


def follow(page: Page, folder: Path, section: str, *kinds: str, **values: str) -> str:
    """Run commands of a section in the folder, and return what they print."""
    commands = configuration(page, **values) + page.commands(section, *kinds)
    return shell(commands, _environment(page, folder), folder)


def _environment(page: Page, folder: Path) -> dict[str, str]:
    # No browser opens by itself.
    return {"PATH": f"{_programs(page, folder)}:{os.environ['PATH']}", "BROWSER": "true"}


def _programs(page: Page, folder: Path) -> Path:
    """Return a folder with ``python`` and, for pages that install with npm, their packages beside it."""
    programs = folder / ".programs"
    if programs.exists():
        return programs
    programs.mkdir()
    if "next" in page.installed():
        # Its compiler reads nothing outside of the folder.
        _shared_copy(packages.nextjs(), folder / "node_modules")
        return programs
    if "npm install" in page.commands("Install"):
        (folder / "node_modules").symlink_to(packages.node_modules())
        return programs
    python = programs / "python"
    # A link would not find the packages of its environment.
    python.write_text(f'#!/bin/sh\nexec "{interpreter(page)}" "$@"\n')
    python.chmod(0o755)
    return programs


def _shared_copy(source: Path, target: Path) -> None:
    """Copy a folder with hard links, or whole where the file systems differ."""
    for option in ("-al", "-a"):
        if (
            subprocess.run(["/bin/cp", option, source, target], capture_output=True, check=False).returncode
            == 0
        ):
            return
        shutil.rmtree(target, ignore_errors=True)
    raise AssertionError(f"{source} cannot be copied")


def interpreter(page: Page) -> Path | str:
    """Return a Python that has what the page installs: ours, if it has."""
    return packages.python() if lacks(page) else sys.executable


def lacks(page: Page) -> list[str]:
    """Return the packages of the page that have to be fetched."""
    if "npm install" in page.commands("Install"):
        return page.installed()
    return [name for name in page.installed() if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _wait_for(process: "subprocess.Popen[bytes]", address: str, log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the program ended: {log.read_text()[-3000:]}"
        try:
            httpx.get(address, timeout=30)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"the program does not answer: {log.read_text()[-3000:]}")
