"""Code on a page that says where it is from is there, so that what people copy is what ran."""

import re

import pytest
from django.conf import settings

ROOT = settings.BASE_DIR
_QUOTATION = re.compile(r"From \[([^\]]+)\]\(([^)]+)\):\n\n```\w*\n(.*?)\n```", re.DOTALL)
QUOTATIONS = {
    str(page.relative_to(ROOT)): found
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if (found := _QUOTATION.findall(page.read_text()))
}


@pytest.mark.parametrize("page", QUOTATIONS)
def test_quotes_what_is_there(page):
    for source, link, code in QUOTATIONS[page]:
        assert ((ROOT / page).parent / link).resolve() == ROOT / source

        text = (ROOT / source).read_text()

        assert [part for part in code.split("\n\n") if part.strip("\n") not in text] == []
