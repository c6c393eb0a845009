"""Pages of rows that have sections and a navigation between them."""

from dataclasses import dataclass
from typing import Any, ClassVar

from django.http import HttpRequest
from django.utils.text import slugify
from django.utils.translation import override

from identity.operator_kit.operations import Operation
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Card, Panel
from identity.operator_kit.texts import Text


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page: its buttons, cards, groups of fields and panels."""

    title: Text
    operations: list[tuple[Operation, str]]
    cards: list[Card]
    groups: list[Any]
    panels: list[Panel]

    @property
    def anchor(self) -> str:
        """The id of the section in the page, which is the same in all languages."""
        with override("en"):
            return slugify(str(self.title))

    @property
    def is_empty(self) -> bool:
        return not (self.operations or self.cards or self.groups or self.panels)


class SectionedPages(Pages):
    """Pages whose cards, panels and operations each name one of ``sections``.

    The section ``fields_section`` shows the groups of fields, and the cards and panels that name no section.
    The button of an operation that names no section is at the top of the page, or in the danger zone at its
    end.
    """

    sections: ClassVar[tuple[Text, ...]]
    fields_section: ClassVar[Text]
    change_form_template = "admin/row_sections.html"

    def _build_context(self, request: HttpRequest, row: Any, opened: dict[str, Any] | None) -> dict[str, Any]:
        """Return the template context of the page of a row, in sections."""
        context = super()._build_context(request, row, opened)
        sections = [self._build_section(title, context) for title in self.sections]
        context["sections"] = [section for section in sections if not section.is_empty]
        for name in ("operations", "dangers"):
            context[name] = [link for link in context[name] if not link[0].section]
        return context

    def _build_section(self, title: Text, context: dict[str, Any]) -> Section:
        links = context["operations"] + context["dangers"]
        has_fields = title == self.fields_section
        default = title if has_fields else None
        return Section(
            title,
            [link for link in links if link[0].section == title],
            [card for card in context["cards"] if (card.section or default) == title],
            list(context["adminform"]) if has_fields else [],
            [panel for panel in context["panels"] if (panel.section or default) == title],
        )
