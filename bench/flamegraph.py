"""Stacks that were seen, drawn: each box is a function, as wide as the time it was on a stack."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from xml.sax.saxutils import escape, quoteattr

Stacks = Counter[tuple[str, ...]]
Boxes = list[tuple[float, int, int, tuple[str, ...]]]  # left edge, depth, samples, stack

_WIDTH: Final = 1200
_ROW: Final = 17
_LETTER: Final = 6.6  # pixels, of the font that is named below
_READABLE: Final = 2  # letters; fewer say nothing
_LEAST: Final = 0.004  # of the whole: what is narrower than this is left out
_COLOURS: Final = ("#f4a582", "#92c5de", "#a6dba0", "#fddbc7", "#c2a5cf", "#e6d598", "#b8c9d9", "#e0b0b8")
_HEAD: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-size="11" '
    'font-family="ui-monospace, Menlo, Consolas, monospace">\n<title>{title}</title>\n'
    '<rect width="100%" height="100%" fill="#fff"/>\n'
)


@dataclass
class Box:
    """A function at one place of the stacks."""

    count: int = 0
    inner: dict[str, "Box"] = field(default_factory=dict)


def read(raw: str) -> Stacks:
    """Return stacks, the outermost function first, of lines as py-spy's raw format has them."""
    stacks: Stacks = Counter()
    for line in raw.splitlines():
        stack, _, count = line.rpartition(" ")
        stacks[tuple(stack.split(";"))] += int(count)
    return stacks


def svg(stacks: Stacks, title: str, group_of: Callable[[tuple[str, ...]], str]) -> str:
    """Draw stacks: no script, no font, nothing from elsewhere. Boxes of one group have one colour."""
    root = Box()
    for stack, count in stacks.items():
        root.count += count
        box = root
        for frame in stack:
            box = box.inner.setdefault(frame, Box())
            box.count += count
    drawn: Boxes = []
    _lay(root, (), 0.0, root.count * _LEAST, drawn)
    groups = [name for name, _ in Counter(group_of(stack) for *_, stack in drawn).most_common()]
    height = (2 + max((depth for _, depth, _, _ in drawn), default=0)) * _ROW
    scale = _WIDTH / root.count
    parts = [_HEAD.format(width=_WIDTH, height=height, title=escape(title))]
    for left, depth, count, stack in drawn:
        colour = _COLOURS[groups.index(group_of(stack)) % len(_COLOURS)]
        top = height - (depth + 1) * _ROW
        said = f"{stack[-1]}: {100 * count / root.count:.1f} %"
        width = count * scale
        parts.append(
            f"<g><title>{escape(said)}</title>"
            f'<rect x="{left * scale:.1f}" y="{top}" width="{max(width - 0.5, 0.5):.1f}" height="{_ROW - 1}" '
            f"fill={quoteattr(colour)}/>{_label(stack[-1], left * scale, top, width)}</g>\n"
        )
    return "".join([*parts, "</svg>\n"])


def _lay(
    box: Box,
    stack: tuple[str, ...],
    left: float,
    least: float,
    drawn: Boxes,
) -> None:
    """Lay what is inside of a box side by side on top of it, the widest first."""
    for frame, inner in sorted(box.inner.items(), key=lambda pair: -pair[1].count):
        if inner.count < least:
            return
        drawn.append((left, len(stack), inner.count, (*stack, frame)))
        _lay(inner, (*stack, frame), left, least, drawn)
        left += inner.count


def _label(frame: str, left: float, top: int, width: float) -> str:
    """Write the name of a function as far as there is room for it."""
    name, room = frame.partition(" (")[0], int((width - 4) / _LETTER)
    if room <= _READABLE:
        return ""
    shown = name if len(name) <= room else f"{name[: room - 1]}…"
    return f'<text x="{left + 2:.1f}" y="{top + 12}">{escape(shown)}</text>'
