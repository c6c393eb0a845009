"""The page on which users without another first factor enter a recovery code."""

from dataclasses import replace
from typing import Final

from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from identity.core.errors import ServiceError
from identity.http.responses import add_headers, redirect
from identity.users.identifiers import Kind
from interaction.journeys.pending import Pending, page_url
from interaction.journeys.second_factor import recovering, visits
from interaction.pages import context, labels
from interaction.pages.factor_page import FactorForm
from interaction.pages.views import shared

_URL: Final = "pages:recovery"


class RecoveryForm(FactorForm):
    """The identifier of a user, and a recovery code."""

    identifier = forms.CharField(max_length=254)


@shared.step
def recovery(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Ask for identifier and recovery code, and lead on to setting up a new factor."""
    experience = context.get_experience(request)
    if not recovering.is_possible(experience):
        return redirect(page_url("pages:sign-in", pending))
    if request.method != "POST":
        return _page(request, pending, RecoveryForm())
    form = RecoveryForm(request.POST)
    form.fields["identifier"].error_messages["required"] = labels.identifier_required([Kind.USERNAME])
    if not form.is_valid():
        return _page(request, pending, form, 400)
    visit = replace(visits.of(request, pending), experience=experience)
    fields = form.cleaned_data
    try:
        result = recovering.sign_in(visit, identifier=fields["identifier"], code=fields["code"])
    except ServiceError as error:
        field = "code" if error.reason == "second_factor_wrong" else None
        shared.add_error(form, error, field, is_recovery=True)
        return add_headers(_page(request, pending, form, error.status), error.headers)
    return shared.redirect_signed_in(request, result)


def _page(
    request: HttpRequest, pending: Pending | None, form: RecoveryForm, status: int = 200
) -> HttpResponse:
    return shared.render_page(
        request,
        "recovery",
        pending,
        status,
        form=form,
        action=reverse(_URL),
        identifier_label=labels.identifier_label([Kind.USERNAME]),
        sign_in_url=page_url("pages:sign-in", pending),
    )
