"""Writes a page for each chapter of the API, from the description that the server itself gives."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Final

import django
from django.utils.html import escape, strip_tags

if TYPE_CHECKING:
    from management.openapi.reference import Chapter, Operation
    from management.openapi.rendering import Field

ROOT: Final = Path(__file__).resolve().parents[2]
TARGET: Final = ROOT / "var/docs/operations"


def main() -> None:
    """Write var/docs/operations/*.md, and order.txt with their names."""
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as scratch:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DEBUG": "true",
            "VAR_DIR": scratch,
            "BASE_URL": "https://id.example.com",
        }
        django.setup()
        from management.openapi.document import as_json, document  # noqa: PLC0415 - Django is ready only now
        from management.openapi.reference import chapters, credentials  # noqa: PLC0415

        shutil.rmtree(TARGET, ignore_errors=True)
        TARGET.mkdir(parents=True)
        found = chapters(document())
        for chapter in found:
            (TARGET / f"{chapter.id}.md").write_text(_page(chapter))
        (TARGET / "index.md").write_text(_index(document()["info"]["description"], credentials(), found))
        (TARGET / "openapi.json").write_bytes(as_json())
        names = ["index", *(chapter.id for chapter in found)]
        (TARGET / "order.txt").write_text("".join(f"{name}.md\n" for name in names))


def _index(introduction: str, credentials: list[tuple[str, str]], found: list[Chapter]) -> str:
    chapter_rows = "\n".join(
        f"| [{one.name}]({one.id}.md) | {one.description} | {len(one.operations)} |" for one in found
    )
    credential_rows = "\n".join(f"| {name} | {text} |" for name, text in credentials)
    return "\n\n".join(
        [
            "# All operations",
            introduction,
            "[openapi.json](openapi.json) has all of it in OpenAPI 3.1, as servers give it too.",
            f"| On | | Operations |\n|---|---|---|\n{chapter_rows}",
            f"## Credentials\n\n| With | |\n|---|---|\n{credential_rows}\n",
        ]
    )


def _page(chapter: Chapter) -> str:
    rows = "\n".join(
        f"| [{one.summary}](#{one.id}) | `{one.method}` | `{_plain(one.path)}` |"
        for one in chapter.operations
    )
    parts = [f"# {chapter.name}", str(chapter.description), f"| To | Method | Path |\n|---|---|---|\n{rows}"]
    return "\n\n".join([*parts, *map(_operation, chapter.operations)]) + "\n"


def _operation(one: Operation) -> str:
    credentials = f"Needs {one.credentials}." if one.credentials else "Public."
    etag = " The response has an `ETag`." if one.has_etag else ""
    parts = [
        f"## {one.summary} {{ #{one.id} }}",
        f"```http\n{one.method} {_plain(one.path)}\n```",
        str(one.description),
        f"{credentials}{etag}",
        _table("Parameters", one.parameters),
    ]
    if one.request:
        parts += [_table(f"Body ({one.request.media_type})", one.request.fields)]
    parts += [_example("Example request", "bash", one.curl)]
    if one.request and one.request.media_type == "application/json":
        parts += [_example("body.json", "json", _plain(one.request.example))]
    if one.response:
        parts += [_example("Response", "json", _plain(one.response.example))]
        parts += [_folded("Fields of the response", _table("", one.response.fields, answer=True))]
    others = "".join(f"<tr><td>{code}</td><td>{text}</td></tr>" for code, text in one.other_responses)
    parts += [_folded("Other responses", f'<table class="refusals"><tbody>{others}</tbody></table>')]
    return "\n\n".join(part for part in parts if part)


def _plain(text: str) -> str:
    return unescape(strip_tags(text))


def _example(title: str, language: str, text: str) -> str:
    return f'```{language} title="{title}"\n{text}\n```'


def _table(title: str, fields: list[Field], *, answer: bool = False) -> str:
    rows = "".join(
        f"<tr><td><code>{field.name}</code>{' <em>required</em>' if field.required and not answer else ''}"
        f"</td><td>{escape(field.kind)}</td><td>{field.description}</td></tr>"
        for field in fields
    )
    heading = f'<p class="part">{title}</p>\n\n' if title else ""
    return f'{heading}<table class="fields"><tbody>{rows}</tbody></table>' if rows else ""


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>{content}</details>" if content else ""


if __name__ == "__main__":
    main()
