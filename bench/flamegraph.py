"""Draw sampled stacks as a flame graph: each box is a function, as wide as its share of the samples."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from xml.sax.saxutils import escape, quoteattr

Stacks = Counter[tuple[str, ...]]
Boxes = list[tuple[float, int, int, tuple[str, ...]]]  # left edge, depth, samples, stack

_WIDTH: Final = 1200
_ROW: Final = 17
_LETTER: Final = 6.6  # width in pixels
_LEAST_LETTERS: Final = 2  # of a label
_LEAST_SHARE: Final = 0.004  # narrower boxes are left out
_COLOURS: Final = ("#f4a582", "#92c5de", "#a6dba0", "#fddbc7", "#c2a5cf", "#e6d598", "#b8c9d9", "#e0b0b8")
_HEAD: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-size="11" '
    'font-family="ui-monospace, Menlo, Consolas, monospace">\n<title>{title}</title>\n'
    '<rect width="100%" height="100%" fill="#fff"/>\n'
)


@dataclass
class Box:
    """A function below the same callers, and how many samples it is in."""

    count: int = 0
    inner: dict[str, "Box"] = field(default_factory=dict)


def read(raw: str) -> Stacks:
    """Parse py-spy's raw format into stacks, the outermost function first."""
    stacks: Stacks = Counter()
    for line in raw.splitlines():
        stack, _, count = line.rpartition(" ")
        stacks[tuple(stack.split(";"))] += int(count)
    return stacks


def svg(stacks: Stacks, title: str, group_of: Callable[[tuple[str, ...]], str]) -> str:
    """Draw stacks as an SVG without scripts and fonts. Boxes of one group have one colour."""
    root = Box()
    for stack, count in stacks.items():
        root.count += count
        box = root
        for frame in stack:
            box = box.inner.setdefault(frame, Box())
            box.count += count
    drawn: Boxes = []
    _lay_out(root, (), 0.0, root.count * _LEAST_SHARE, drawn)
    groups = [name for name, _ in Counter(group_of(stack) for *_, stack in drawn).most_common()]
    height = (2 + max((depth for _, depth, _, _ in drawn), default=0)) * _ROW
    scale = _WIDTH / root.count
    parts = [_HEAD.format(width=_WIDTH, height=height, title=escape(title))]
    for left, depth, count, stack in drawn:
        colour = _COLOURS[groups.index(group_of(stack)) % len(_COLOURS)]
        top = height - (depth + 1) * _ROW
        label = f"{stack[-1]}: {100 * count / root.count:.1f} %"
        width = count * scale
        parts.append(
            f"<g><title>{escape(label)}</title>"
            f'<rect x="{left * scale:.1f}" y="{top}" width="{max(width - 0.5, 0.5):.1f}" height="{_ROW - 1}" '
            f"fill={quoteattr(colour)}/>{_label(stack[-1], left * scale, top, width)}</g>\n"
        )
    return "".join([*parts, "</svg>\n"])


def _lay_out(box: Box, stack: tuple[str, ...], left: float, least: float, drawn: Boxes) -> None:
    """Place the inner boxes side by side on top of a box, the widest first."""
    for frame, inner in sorted(box.inner.items(), key=lambda pair: -pair[1].count):
        if inner.count < least:
            return
        drawn.append((left, len(stack), inner.count, (*stack, frame)))
        _lay_out(inner, (*stack, frame), left, least, drawn)
        left += inner.count


def _label(frame: str, left: float, top: int, width: float) -> str:
    """Return the function's name, shortened to the width of the box."""
    name, room = frame.partition(" (")[0], int((width - 4) / _LETTER)
    if room <= _LEAST_LETTERS:
        return ""
    text = name if len(name) <= room else f"{name[: room - 1]}…"
    return f'<text x="{left + 2:.1f}" y="{top + 12}">{escape(text)}</text>'
