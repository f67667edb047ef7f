"""The form that makes an API token."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from tools_app.services.access import ADMIN, SCOPES


class TokenForm(forms.Form):
    """Name, scopes, and what narrows the token further."""

    name = forms.CharField(
        label=_("Name"), max_length=120, help_text=_("Where it will be used, such as “ci-bot”.")
    )
    scopes = forms.MultipleChoiceField(
        label=pgettext_lazy("what a token is allowed", "May"),
        widget=forms.CheckboxSelectMultiple,
        initial=["tools:read", "tools:execute"],
    )
    agent = forms.CharField(
        label=_("Only for agent"),
        required=False,
        max_length=64,
        help_text=_("Every call is then this agent's."),
    )
    tools = forms.CharField(
        label=_("Only these tools"),
        required=False,
        max_length=20_000,
        help_text=_("Names, separated by spaces."),
    )
    days = forms.TypedChoiceField(
        label=_("Ends after"),
        required=False,
        coerce=int,
        empty_value=None,
        initial=90,
        choices=[
            (1, _("1 day")),
            (7, _("7 days")),
            (30, _("30 days")),
            (90, _("90 days")),
            (365, _("1 year")),
            ("", _("never")),
        ],
    )

    def __init__(self, *args: Any, scopes: Collection[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own = SCOPES if ADMIN in scopes else [scope for scope in SCOPES if scope in scopes]
        field = self.fields["scopes"]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101  (declared; for the types)
        field.choices = [(scope, scope) for scope in own]

    @property
    def token_fields(self) -> dict[str, Any]:
        """Return what the service takes."""
        data = self.cleaned_data
        end = timezone.now() + timedelta(days=data["days"]) if data["days"] else None
        return {
            "name": data["name"],
            "scopes": data["scopes"],
            "agent": data["agent"].strip(),
            "tools": data["tools"].replace(",", " ").split() or None,
            "expires_at": end,
        }
