"""SVG: only shapes, text, gradients and clips are kept. Nothing in the result runs or loads anything."""

import re
from typing import Any, Final
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from django.utils.translation import gettext_noop

from interaction.experience.images import BadPictureError
from interaction.experience.images.svg_references import References


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK_HREF: Final = "http://www.w3.org/1999/xlink href"
_MAX_ELEMENTS: Final = 2000
_MAX_DEPTH: Final = 50

_ELEMENTS: Final = _words(
    "svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan "
    "linearGradient radialGradient stop clipPath mask"
)
# The elements whose text is kept.
_WITH_TEXT: Final = frozenset({"title", "desc", "text", "tspan"})
_ATTRIBUTES: Final = _words(
    "id x y x1 y1 x2 y2 cx cy r rx ry fx fy fr d points dx dy rotate width height viewBox version "
    "preserveAspectRatio transform gradientTransform gradientUnits spreadMethod offset pathLength "
    "clipPathUnits maskUnits maskContentUnits textLength lengthAdjust role"
)
# Presentation attributes, which a style attribute may have too.
_STYLES: Final = _words(
    "fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin "
    "stroke-miterlimit stroke-dasharray stroke-dashoffset opacity color display visibility clip-path "
    "clip-rule mask mask-type stop-color stop-opacity font-family font-size font-style font-weight "
    "letter-spacing word-spacing text-anchor dominant-baseline text-decoration paint-order "
    "vector-effect shape-rendering"
)
_VIEW_BOX: Final = re.compile(r"\s*[-\d.]+[\s,]+[-\d.]+[\s,]+([\d.]+)[\s,]+([\d.]+)\s*")
_LOCAL: Final = re.compile(r"#[\w.:-]+")
# A reference to a part of the same picture is the only function that loads something and may stay.
_LOCAL_URL: Final = re.compile(r"""url\(\s*(["']?)#[\w.:-]+\1\s*\)""", re.IGNORECASE)
_UNSAFE: Final = re.compile(r"url|image|src\(|expression|javascript:|@|\\|/\*", re.IGNORECASE)
_TEXT: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(content: bytes) -> bytes:
    """Return an SVG picture that has only elements and attributes of the lists above.

    Raises:
        BadPictureError: the file is not well-formed, is no SVG, declares a document type or entities, or has
            a style sheet or too many elements, also by references.

    """
    cleaner = _Cleaner()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = cleaner.refuse_doctype
    parser.StartElementHandler = cleaner.start
    parser.EndElementHandler = cleaner.end
    parser.CharacterDataHandler = cleaner.text
    try:
        parser.Parse(content, True)  # noqa: FBT003 - the parser takes no keyword
    except (expat.ExpatError, ValueError, LookupError) as error:
        if isinstance(error, BadPictureError):
            raise
        raise BadPictureError(gettext_noop("is no PNG, WebP or well-formed SVG file")) from None
    if cleaner.references.is_too_much():
        raise BadPictureError(gettext_noop("has too many elements: draw what it repeats as one path"))
    return "".join(cleaner.parts).encode()


class _Cleaner:
    """Writes what it keeps of a picture to ``parts``."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.references = References()
        self._names: list[str] = []
        self._skipped = 0  # the depth inside of an element that is dropped
        self._count = 0

    def refuse_doctype(self, *_: Any) -> None:
        raise BadPictureError(gettext_noop("must not have a DOCTYPE: remove this line from the SVG file"))

    def start(self, full_name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > _MAX_ELEMENTS or len(self._names) + self._skipped >= _MAX_DEPTH:
            raise BadPictureError(gettext_noop("has too many elements"))
        namespace, _, name = full_name.rpartition(" ")
        if not self._names and not self._skipped and (namespace, name) != (_SVG, "svg"):
            raise BadPictureError(gettext_noop("is no PNG, WebP or SVG file"))
        if name == "style" and namespace == _SVG and not self._skipped:
            raise BadPictureError(
                gettext_noop("must not have a style sheet: export the SVG with presentation attributes")
            )
        if self._skipped or namespace != _SVG or name not in _ELEMENTS:
            self._skipped += 1
            return
        kept = _clean_attributes(name, attributes)
        own = f' xmlns="{_SVG}"' if not self._names else ""
        if not self._names:
            kept = _find_size(kept) | kept
        self._names.append(name)
        self.references.start(kept)
        self.parts.append(f"<{name}{own}{''.join(f' {key}={quoteattr(kept[key])}' for key in kept)}>")

    def end(self, _: str) -> None:
        if self._skipped:
            self._skipped -= 1
        else:
            self.references.end()
            self.parts.append(f"</{self._names.pop()}>")

    def text(self, text: str) -> None:
        if not self._skipped and self._names and self._names[-1] in _WITH_TEXT:
            self.parts.append(escape(text))


def _find_size(root: dict[str, str]) -> dict[str, str]:
    """Return width and height from the view box if both are missing: some browsers would show nothing."""
    box = _VIEW_BOX.fullmatch(root.get("viewBox", ""))
    return {"width": box[1], "height": box[2]} if box and not {"width", "height"} & root.keys() else {}


def _clean_attributes(element: str, attributes: dict[str, str]) -> dict[str, str]:
    kept: dict[str, str] = {}
    for name, value in attributes.items():
        if name == "style":
            kept |= _clean_styles(value)
        elif name in {"href", _XLINK_HREF} and element in {"use", "linearGradient", "radialGradient"}:
            if _LOCAL.fullmatch(value.strip()):
                kept["href"] = value.strip()
        elif name in _STYLES:
            if _is_safe(value):
                kept[name] = value
        elif name in _ATTRIBUTES and not _TEXT.search(value):
            kept[name] = value
    return kept


def _clean_styles(style: str) -> dict[str, str]:
    """Return the declarations of a style attribute as presentation attributes."""
    pairs = (declaration.partition(":") for declaration in style.split(";"))
    named = {name.strip().lower(): value.replace("!important", "").strip() for name, _, value in pairs}
    return {name: value for name, value in named.items() if name in _STYLES and _is_safe(value)}


def _is_safe(value: str) -> bool:
    return not _UNSAFE.search(_LOCAL_URL.sub("", value))
