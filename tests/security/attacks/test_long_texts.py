"""Long texts that somebody chose take time in proportion to their length, so no thread is held for long."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from audit import exports
from interaction.pages import admin
from management.imports import firebase
from management.imports.records import MemoryFile, Unreadable

KIB = 1024


@contextmanager
def quickly() -> Iterator[None]:
    """The block takes less than 0.3 seconds of this thread."""
    began = time.thread_time()
    yield
    assert time.thread_time() - began < 0.3


@pytest.mark.parametrize("part", ["a", '"a', "a ", "a:", "é", "a" * 41 + ":", "x: " + "a" * 600])
def test_hash_parameters_of_firebase(part):
    content = (part * 8 * KIB).encode()[: 8 * KIB]

    with quickly(), pytest.raises(Unreadable, match="must contain base64_signer_key"):
        firebase.parameters(MemoryFile("other", content))


def test_hash_parameters_of_firebase_that_are_too_long_are_not_read():
    with quickly(), pytest.raises(Unreadable, match="other: must have at most 8 KiB"):
        firebase.parameters(MemoryFile("other", b"a" * 999_000))


@pytest.mark.parametrize("part", ["\t", "\n", " ", ";", "; ", " \t", "\t;", "\xa0"])
def test_a_text_of_white_space_in_an_exported_log(part):
    text = part * 20_000 + "x"

    with quickly():
        escaped = exports.escape_formulas(text)

    assert escaped.removeprefix("'") == text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("=1", "'=1"),
        (" \t\n =1", " \t\n '=1"),
        ("a=1; \t-2", "a=1; \t'-2"),
        ("a\n+1\r\n@x", "a\n'+1\r\n'@x"),
        ("a \t \uff1d", "a \t '\uff1d"),
        (";;=1", ";;'=1"),
        ("\ta", "'\ta"),
        ("\t=1", "\t'=1"),
        ("a  =1 -2", "a  =1 -2"),
    ],
)
def test_a_formula_after_white_space_is_escaped(text, escaped):
    assert exports.escape_formulas(text) == escaped


@pytest.mark.parametrize("start", ["<style>", "<style", "<style "])
def test_style_sheets_without_an_end_in_the_preview_of_a_message(start):
    # The longest template, with as many names of 128 characters as it can have.
    text = start * 1_100 + "n" * 128 * 1_300

    with quickly():
        sheets = admin._SHEET.findall(text)

    assert len(sheets) <= 1
