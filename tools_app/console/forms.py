"""Forms of the console: they read what was typed; the rules are the services'."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from tools_app.core.errors import ToolError
from tools_app.models import FreezeScope


def add_service_errors(form: forms.Form, error: ToolError) -> None:
    """Put a service's complaints beside the fields they are about, the rest above the form."""
    listed: Any = error.extra.get("errors") or []
    for item in _as_mappings(listed):
        name = str(item.get("path", "")).removeprefix("$.").split(".")[0].split("[")[0]
        form.add_error(name if name in form.fields else None, str(item.get("message", "")))
    if not form.errors:
        form.add_error(None, error.message)


def _as_mappings(items: Iterable[object]) -> Iterable[Mapping[str, object]]:
    return (item for item in items if isinstance(item, Mapping))


class FreezeForm(forms.Form):
    """What to freeze, why, and for how long; there is no freeze without an end."""

    EVERYTHING_WORD = "everything"

    scope = forms.ChoiceField(
        label=_("Freeze"),
        choices=[c for c in FreezeScope.choices if c[0] != FreezeScope.NODE],
        widget=forms.RadioSelect,
        initial=FreezeScope.AGENT,
    )
    target = forms.CharField(
        label=_("Agent or tool"),
        required=False,
        max_length=200,
        help_text=_("Its exact name."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "list": "freeze-targets"}),
    )
    reason = forms.CharField(
        label=_("Reason"),
        max_length=500,
        help_text=_("Everybody sees it, in the banner and in the log."),
        widget=forms.TextInput(attrs={"autofocus": True}),
    )
    lasts = forms.TypedChoiceField(
        label=_("Ends after"),
        coerce=int,
        choices=[
            ("", _("Choose an end")),
            (15, _("15 minutes")),
            (60, _("1 hour")),
            (240, _("4 hours")),
            (1440, _("1 day")),
            (10080, _("7 days")),
        ],
        error_messages={"required": _("Choose when it ends. It can be extended later.")},
    )
    confirmation = forms.CharField(
        label=_("Type “everything” to freeze everything"),
        required=False,
        max_length=20,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean(self) -> dict[str, Any]:
        """Ask for the typed word before everything stops."""
        data = super().clean() or self.cleaned_data
        if data.get("scope") == FreezeScope.EVERYTHING:
            data["target"] = ""
            if str(data.get("confirmation", "")).strip().casefold() != self.EVERYTHING_WORD:
                self.add_error("confirmation", _("Type the word “everything” to confirm."))
        elif not data.get("target"):
            self.add_error("target", _("Name what to freeze."))
        return data

    @property
    def expires_at(self) -> datetime:
        """The end that was chosen, counted from now."""
        return timezone.now() + timedelta(minutes=self.cleaned_data["lasts"])
