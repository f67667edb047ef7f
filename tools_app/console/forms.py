"""Forms of the console: they read what was typed; the rules are the services'."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from tools_app.core.errors import ToolError
from tools_app.models import FreezeScope, RunStatus, Tool
from tools_app.services.catalogue import SURFACES


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
        error_messages={"required": _("Name what to freeze.")},
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
        error_messages={"required": _("Type the word “everything” to confirm.")},
        max_length=20,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.is_bound:  # only one of the two is shown, and only that one is asked for
            is_all = self.data.get("scope") == FreezeScope.EVERYTHING
            self.fields["target"].required = not is_all
            self.fields["confirmation"].required = is_all

    def clean(self) -> dict[str, Any]:
        """Ask for the typed word before everything stops."""
        data = super().clean() or self.cleaned_data
        if data.get("scope") == FreezeScope.EVERYTHING:
            data["target"] = ""
            typed = data.get("confirmation")
            if typed and typed.strip().casefold() != self.EVERYTHING_WORD:
                self.add_error("confirmation", _("Type the word “everything” to confirm."))
        return data

    @property
    def expires_at(self) -> datetime:
        """The end that was chosen, counted from now."""
        return timezone.now() + timedelta(minutes=self.cleaned_data["lasts"])


class ExtendForm(forms.Form):
    """How much longer a freeze lasts, counted from its present end."""

    lasts = forms.TypedChoiceField(
        label=_("Longer by"),
        coerce=int,
        choices=[(60, _("1 hour")), (240, _("4 hours")), (1440, _("1 day")), (10080, _("7 days"))],
    )


class RunFilterForm(forms.Form):
    """The filters of the list of runs, as they stand in its address."""

    q = forms.CharField(
        label=_("Search"),
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": _("Run id, tool, agent, caller, session")}
            | {"data-filter": ""}
        ),
    )
    agent = forms.CharField(label=_("Agent"), required=False, max_length=64)
    tool = forms.CharField(label=_("Tool"), required=False, max_length=200)
    effect = forms.ChoiceField(
        label=_("Decision"),
        required=False,
        choices=[("", _("any")), ("allow", _("allow")), ("ask", _("ask")), ("deny", _("deny"))],
    )
    status = forms.ChoiceField(
        label=_("State"), required=False, choices=[("", _("any")), *RunStatus.choices]
    )
    outcome = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)
    token = forms.CharField(required=False, max_length=16, widget=forms.HiddenInput)
    hours = forms.TypedChoiceField(
        label=_("Period"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[("", _("all")), (1, _("1 hour")), (24, _("1 day")), (168, _("7 days"))],
    )

    @property
    def is_filtering(self) -> bool:
        """Whether any filter is set."""
        return self.is_valid() and any(self.cleaned_data.values())


class ToolForm(forms.Form):
    """What an admin may choose about a tool; empty means the tool's own."""

    is_enabled = forms.BooleanField(label=_("Offered"), required=False)
    confirmation_override = forms.TypedChoiceField(
        label=_("Asks before it runs"),
        required=False,
        empty_value=None,
        coerce=lambda value: value == "yes",
        choices=[("", _("as the tool says")), ("yes", _("always")), ("no", _("never"))],
    )
    timeout_override = forms.FloatField(
        label=_("Time limit"), required=False, help_text=_("In seconds; empty for the tool's own.")
    )
    exposed_on = forms.MultipleChoiceField(
        label=_("Offered on"),
        required=False,
        choices=[(surface, surface) for surface in SURFACES],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None chosen means everywhere."),
    )
    note = forms.CharField(
        label=_("Note"), required=False, max_length=10_000, widget=forms.Textarea({"rows": 2})
    )

    @classmethod
    def for_tool(cls, tool: Tool) -> ToolForm:
        """Return the form filled with what is chosen now."""
        override = {None: "", True: "yes", False: "no"}[tool.confirmation_override]
        return cls(
            initial={
                "is_enabled": tool.is_enabled,
                "confirmation_override": override,
                "timeout_override": tool.timeout_override,
                "exposed_on": tool.exposed_on or [],
                "note": tool.note,
            }
        )

    def clean_exposed_on(self) -> list[str] | None:
        """Return the surfaces, ``None`` for all of them."""
        return self.cleaned_data["exposed_on"] or None
