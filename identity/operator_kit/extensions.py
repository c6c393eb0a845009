"""What apps add to the operators' pages of the apps below them.

An app imports no app above it, so the page of a user cannot name the user's sessions, roles or organizations.
Instead the app above registers them here, in its ``admin`` module, which Django imports when it starts:

- ``register_card(User, ...)``: a card at the top of the page of a user;
- ``register_panels(User, ...)``: panels on the page of a user;
- ``register_operations(User, ...)``: operations on a user;
- ``register_previews(SignInExperience, ...)``: pages that can be rendered from an unsaved experience.

The pages read this registry at each request, so the order of the imports does not matter to them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.http import HttpResponse

from identity.operator_kit.operations import Operation
from identity.operator_kit.panels import Card, Panel
from identity.operator_kit.texts import Text

BuildPanels = Callable[[Any], list[Panel]]


# Takes a row, and the URLs of the operations that the administrator may run on it, by name. Returns None if
# the row has no card.
BuildCard = Callable[[Any, Mapping[str, str]], Card | None]


@dataclass(frozen=True, slots=True)
class Preview:
    """A page that can be rendered from a draft."""

    name: str
    label: Text
    render: Callable[[Any], HttpResponse]


@dataclass(frozen=True, slots=True)
class Extensions:
    """What was registered for one class."""

    panels: list[BuildPanels] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    previews: list[Preview] = field(default_factory=list)
    cards: list[BuildCard] = field(default_factory=list)


registry: Final[defaultdict[type, Extensions]] = defaultdict(Extensions)


def register_panels(model: type, build: BuildPanels) -> None:
    """Show the panels that a function builds on the page of each row of a model."""
    registry[model].panels.append(build)


def register_card(model: type, build: BuildCard) -> None:
    """Show the card that a function builds at the top of the page of each row of a model."""
    registry[model].cards.append(build)


def build_cards(model: type, row: Any, links: Iterable[tuple[Operation, str]]) -> list[Card]:
    """Return the cards of the page of a row. ``links`` are its operations and their URLs."""
    urls = {operation.name: url for operation, url in links}
    return [card for build in registry[model].cards if (card := build(row, urls))]


def register_operations(model: type, *operations: Operation) -> None:
    """Offer operations on the rows of a model."""
    registry[model].operations.extend(operations)


def register_previews(draft: type, *previews: Preview) -> None:
    """Offer previews of the drafts of a class."""
    registry[draft].previews.extend(previews)
