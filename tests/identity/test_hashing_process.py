"""In a server, hashes are made in processes of their own, which give way to everything else."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Event
from unittest import mock
from urllib.parse import urlsplit

import argon2
import httpx
import pytest

from identity.users import hashing_process, low_priority, passwords
from tests.support import second
from tests.support.cast import PASSWORD
from tests.support.threads import wait_until

PROC = Path("/proc")
linux = pytest.mark.skipif(not (PROC / "self").exists(), reason="reads /proc")


@pytest.fixture
def apart(monkeypatch):
    """As in a server. Yields something that does work in a thread which has a process of its own."""
    wanted = Event()
    wanted.set()
    monkeypatch.setattr(hashing_process, "_enabled", wanted)
    queue = passwords.HashingQueue(running=1, waiting=8)
    monkeypatch.setattr(passwords, "_queue", queue)
    yield queue.run
    hashing_process.end_processes()


def process(apart):
    """The process that hashes, which is there once something was hashed."""
    passwords.verify(PASSWORD, None)
    return hashing_process._idle[-1]


@pytest.mark.parametrize("password", ["pässwörd 密码 🔑", "", "a\nb\r\n", "a\0b", '"\\u0041"', "x" * 4096])
def test_what_is_hashed_there_is_known_here_and_there(apart, password):
    stored = passwords.hash_password(password)

    assert argon2.PasswordHasher().verify(stored.removeprefix("argon2"), password)
    assert passwords.verify(password, stored) == (True, None)
    assert passwords.verify(f"{password}x", stored) == (False, None)


def test_what_was_hashed_here_is_known_there(monkeypatch, apart):
    with monkeypatch.context() as patch:
        patch.setattr(hashing_process, "_enabled", Event())
        stored = passwords.hash_password(PASSWORD)

    assert passwords.verify(PASSWORD, stored) == (True, None)
    assert passwords.verify("wrong password", stored) == (False, None)


def test_nobodys_password_is_hashed_there_too(apart):
    assert passwords.verify(PASSWORD, None) == (False, None)
    assert hashing_process._idle[-1].poll() is None


def test_a_damaged_hash_is_nobodys(apart):
    stored = passwords.hash_password(PASSWORD)

    assert passwords.verify(PASSWORD, f"{stored[:-4]}AAAA") == (False, None)
    assert passwords.verify(PASSWORD, stored) == (True, None)


def test_one_process_does_one_hash_after_the_other(apart):
    first = process(apart)

    assert process(apart) is first


@linux
@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not GNU's")
def test_it_keeps_the_memory_of_a_hash_no_longer_than_it_is_busy(apart):
    own = process(apart).pid
    for _ in range(3):
        passwords.hash_password(PASSWORD)
    busy = resident(own)

    assert wait_until(lambda: resident(own) < busy - 16 * 1024)
    assert passwords.verify(PASSWORD, passwords.hash_password(PASSWORD)) == (True, None)
    assert process(apart).pid == own


def resident(pid):
    """The resident memory of a process in KiB."""
    [line] = [line for line in (PROC / str(pid) / "status").read_text().splitlines() if "VmRSS" in line]
    return int(line.split()[1])


@linux
def test_it_gives_way(apart):
    own = process(apart).pid

    assert os.getpriority(os.PRIO_PROCESS, own) == os.getpriority(os.PRIO_PROCESS, 0) + 10


@pytest.mark.skipif(not (PROC / "self/autogroup").exists(), reason="sessions are not told apart here")
def test_its_session_gives_way_to_all_others(apart):
    """Or its niceness would count inside the session alone, and the database would wait for hashes."""
    own = process(apart).pid
    niceness = PROC / str(own) / "autogroup"

    assert os.getsid(own) == own
    assert wait_until(lambda: niceness.read_text().split()[-1] == "10")


@pytest.mark.parametrize(
    ("answers", "asked"), [([None], 1), ([BlockingIOError, BlockingIOError, None], 3), ([PermissionError], 1)]
)
def test_a_session_that_may_not_give_way_yet_tries_again(monkeypatch, answers, asked):
    autogroup = mock.Mock()
    autogroup.write_text.side_effect = answers
    monkeypatch.setattr(low_priority, "_AUTOGROUP", autogroup)

    low_priority._lower_session_priority()

    assert autogroup.write_text.call_args_list == [mock.call("10")] * asked


@linux
def test_it_knows_no_secret(apart):
    environment = (PROC / str(process(apart).pid) / "environ").read_text()

    assert "SECRET_KEY" not in environment
    assert "DATABASE_URL" not in environment
    assert PASSWORD not in (PROC / str(process(apart).pid) / "cmdline").read_text()


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_it_outlives_what_ends_servers(apart, by):
    """A service manager tells every process to end; workers still finish what they are at."""
    first = process(apart)

    os.kill(first.pid, by)

    assert process(apart) is first


def test_one_that_was_killed_is_replaced(apart):
    first = process(apart)
    stored = passwords.hash_password(PASSWORD)

    first.kill()
    first.wait()

    assert passwords.verify(PASSWORD, stored) == (True, None)
    assert process(apart) is not first


def test_all_that_were_killed_are_replaced(apart):
    dead = [hashing_process._start() for _ in range(3)]
    hashing_process._idle.extend(dead)
    for each in dead:
        each.kill()
        each.wait()

    assert passwords.verify(PASSWORD, None) == (False, None)

    assert len(hashing_process._idle) == 1
    assert hashing_process._idle[0] not in dead


def test_one_that_does_not_answer_in_time_is_ended_and_replaced(apart, monkeypatch):
    first = process(apart)

    first.send_signal(signal.SIGSTOP)
    with monkeypatch.context() as patch:
        patch.setattr(hashing_process, "_RESULT_SECONDS", 0.2)
        with pytest.raises(passwords.Busy):
            passwords.verify(PASSWORD, None)

    assert first.poll() is not None
    assert process(apart) is not first


@pytest.mark.parametrize("python", ["/bin/false", "/no/such/program"])
def test_one_that_never_comes_up_is_told_to_operators_and_is_no_answer(apart, monkeypatch, caplog, python):
    stored = passwords.hash_password(PASSWORD)
    first = hashing_process._idle[-1]
    first.kill()
    first.wait()
    monkeypatch.setattr(sys, "executable", python)

    with pytest.raises(passwords.Busy):
        passwords.verify(PASSWORD, stored)

    assert "no password can be hashed" in caplog.text
    assert PASSWORD not in caplog.text


def test_what_is_no_text_fails_without_ending_it(apart):
    first, stored = process(apart), passwords.hash_password(PASSWORD)

    with pytest.raises(UnicodeEncodeError):
        passwords.verify("\ud800", stored)

    assert process(apart) is first


def test_it_ends_with_whoever_asks():
    code = (
        "from identity.users import hashing_process as process;"
        "process.enable(); process.encode('x', 'saltsalt', (1, 8, 1));"
        "print(process._idle[-1].pid, flush=True); import os; os._exit(0)"
    )

    # It has the pipe of standard error as well: while it goes on, so does this.
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)

    assert (int(ran.stdout) > 0, ran.stderr) == (True, "")


def below(address):
    """The processes that hash for the server at an address."""
    port, found = f"PORT={urlsplit(address).port}".encode(), []
    for place in PROC.glob("[0-9]*"):
        with suppress(OSError):
            if b"identity.users.hashing_process" in (place / "cmdline").read_bytes().split(b"\0"):
                above = (place / "stat").read_text().rpartition(")")[2].split()[1]
                if port in (PROC / above / "environ").read_bytes().split(b"\0"):
                    found.append(place)
    return found


@linux
def test_a_server_hashes_there_and_leaves_nothing_behind(acme):
    user = acme.user()
    with second.running(THREADS="8", HASHING_CONCURRENCY="1") as address:
        before = below(address)
        answer = httpx.post(
            f"{address}/t/{acme.tenant.slug}/api/interaction/sign-in",
            json={"identifier": user.username, "password": PASSWORD},
            timeout=60,
        )
        at_work = below(address)

    assert answer.status_code == 200
    assert before == []
    assert len(at_work) == 1
    deadline = time.monotonic() + 10
    while any(place.exists() for place in at_work):
        assert time.monotonic() < deadline, "it outlives its server"
        time.sleep(0.05)
