"""The units of systemd in the documentation: systemd accepts them, and their commands exist."""

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, get_commands, load_command_class

from tests.support.packages import lacking

DOCS = Path(settings.BASE_DIR) / "docs"
PYTHON = "/srv/gatehouse/.venv/bin/python"
SECTIONS = {"service": "Service", "timer": "Timer"}
Unit = list[tuple[str, str, str]]


def texts() -> dict[str, str]:
    """The units by their file names: the file of the server, and the blocks of operations.md."""
    page = (DOCS / "operations.md").read_text()
    blocks = [block for block in re.findall(r"```ini\n(.*?)```", page, re.DOTALL) if "[Service]" in block]
    timers = [block for block in re.findall(r"```ini\n(.*?)```", page, re.DOTALL) if "[Timer]" in block]
    assert (len(blocks), len(timers)) == (1, 1)
    assert "/etc/systemd/system/gatehouse-purge.service` and `.timer`" in page
    return {
        "gatehouse.service": (DOCS / "deployment/gatehouse.service").read_text(),
        "gatehouse-purge.service": blocks[0],
        "gatehouse-purge.timer": timers[0],
    }


def parsed(text: str) -> Unit:
    """The section, the key and the value of each line. A key may occur more than once."""
    found, section = [], ""
    for line in text.splitlines():
        if not line or line.startswith(("#", ";")):
            continue
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            section = heading[1]
            continue
        setting = re.fullmatch(r"([A-Z]\w+)=(.*)", line)
        assert setting, f"not a line of a unit: {line}"
        assert section, f"before the first section: {line}"
        found.append((section, setting[1], setting[2]))
    return found


def values(unit: Unit, prefix: str) -> list[str]:
    return [value for _, key, value in unit if key.startswith(prefix)]


@pytest.mark.parametrize("name", texts())
def test_a_unit_has_the_section_of_its_kind_and_something_to_do(name):
    unit = parsed(texts()[name])

    section = SECTIONS[name.rpartition(".")[2]]
    assert section in {section for section, _, _ in unit}
    assert values(unit, "ExecStart") or values(unit, "OnCalendar")


@pytest.mark.parametrize("name", [name for name in texts() if name.endswith(".service")])
def test_the_commands_of_a_service_exist_with_their_options(name):
    commands = values(parsed(texts()[name]), "ExecStart")

    assert commands
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == PYTHON
        check(arguments)


def check(arguments: list[str]) -> None:
    """Check the arguments of Python: a command of the project, or the server with its configuration."""
    if arguments[0] == "manage.py":
        name, *options = arguments[1:]
        parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
        parser.called_from_command_line = False
        parser.parse_args(options)
        return
    assert arguments[:3] == ["-m", "gunicorn", "--config"]
    assert importlib.util.find_spec("gunicorn")
    assert importlib.util.find_spec(arguments[3].removeprefix("python:"))


@pytest.mark.parametrize(
    "wrong", ["manage.py purges", "manage.py purge --jsno", "-m gunicorn --config python:config.x"]
)
def test_a_command_that_does_not_exist_is_noticed(wrong):
    with pytest.raises((KeyError, AssertionError, CommandError)):
        check(shlex.split(wrong))


def test_the_daily_check_of_the_installation_is_a_command_too():
    assert "The same unit with `manage.py doctor --json`" in (DOCS / "operations.md").read_text()

    check(["manage.py", "doctor", "--json"])


def complaints(folder: Path, units: dict[str, str]) -> str:
    """What systemd says about units, whose Python is that of the tests."""
    program = shutil.which("systemd-analyze")
    if program is None:
        lacking("systemd-analyze", "Debian: apt install systemd")
    for name, text in units.items():
        (folder / name).write_text(text.replace(PYTHON, sys.executable))
    done = subprocess.run(
        [str(program), "verify", "--man=no", *(str(folder / name) for name in units)],
        capture_output=True,
        text=True,
        check=False,
    )
    said = "".join(line for line in done.stderr.splitlines(keepends=True) if str(folder) in line)
    return said or ("" if done.returncode == 0 else done.stderr)


def test_systemd_accepts_them(tmp_path):
    assert complaints(tmp_path, texts()) == ""


def test_systemd_names_a_key_that_it_does_not_know(tmp_path):
    wrong = texts()["gatehouse.service"].replace("KillMode=", "KilMode=")

    assert "KilMode" in complaints(tmp_path, {"gatehouse.service": wrong})
