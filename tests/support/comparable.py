"""Answers of two installations, made comparable: words replace ids, secrets, times and addresses."""

import base64
import json
import re
from typing import Final

import httpx

# What differs from answer to answer, and the word in its place. The order matters.
_TOKEN: Final = re.compile(r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+")
_WORDS: Final = (
    (re.compile(r'("at_hash": ")[\w-]+'), r"\1(hash)"),
    (re.compile(r"^(set-cookie: [^=]+=)[^;]+"), r"\1(value)"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "(id)"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00)?"), "(time)"),
    (re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT"), "(time)"),
    (re.compile(r"\d{1,2} \w+ \d{4}, \d\d:\d\d"), "(time)"),
    (re.compile(r"\b\d{1,2} [A-Z][a-z]{2} \d{4}\b"), "(date)"),  # a run can last past midnight
    (re.compile(r"\b\d\d:\d\d\b"), "(time)"),
    (re.compile(r"\b1[6-9]\d{8}\b"), "(time)"),
    (re.compile(r"(gatehouse/[\w/-]+)\.[0-9a-f]{12}\."), r"\1.(hash)."),
    (re.compile(r"(?<![\w/-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{20,}"), "(secret)"),
    (re.compile(r"(?<![\w/-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{30,}"), "(secret)"),  # without a digit
)
# Header fields that say when and how long, or are of the connection.
_LEFT_OUT: Final = frozenset(("date", "content-length", "etag", "connection", "server"))


def text_of(answer: httpx.Response, known: dict[str, str]) -> list[str]:
    """Return the lines of an answer: its status, its header fields and its body. ``known`` are own words."""
    fields = [f"{name}: {value}" for name, value in answer.headers.multi_items() if name not in _LEFT_OUT]
    lines = [str(answer.status_code), *sorted(fields), "", *_body(answer)]
    return [_replace(line, known).rstrip() for line in lines]


def _body(answer: httpx.Response) -> list[str]:
    if "json" in answer.headers.get("Content-Type", ""):
        return json.dumps(answer.json(), indent=1).splitlines()
    return answer.text.splitlines()


def _replace(text: str, known: dict[str, str]) -> str:
    text = _TOKEN.sub(lambda found: _decode(found[0]), text)
    for value, word in known.items():
        text = text.replace(value, word)
    for pattern, word in _WORDS:
        text = pattern.sub(word, text)
    return text


def _decode(token: str) -> str:
    """Return the header and the claims of a token."""
    parts = (base64.urlsafe_b64decode(f"{part}==") for part in token.split(".")[:2])
    return " ".join(json.dumps(json.loads(part)) for part in parts)
