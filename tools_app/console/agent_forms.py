"""Forms about agents: the profile, and its tool lists in the policy document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from tools_app.models import AgentProfile, PolicyVersion
from tools_app.policy import SuggestedEntry, suggested_entries

LISTS = ("allow", "alsoAllow", "deny")


class AgentForm(forms.Form):
    """An agent's profile; ``version`` is the one the form was opened with."""

    name = forms.CharField(label=_("Name"), max_length=120)
    description = forms.CharField(
        label=_("What it is for"), required=False, widget=forms.Textarea({"rows": 2})
    )
    provider = forms.CharField(
        label=_("Provider"),
        required=False,
        max_length=64,
        help_text=_("Rules by provider are looked up with it."),
    )
    model = forms.CharField(label=_("Model"), required=False, max_length=120)
    prompt = forms.CharField(
        label=_("System prompt"), required=False, widget=forms.Textarea({"rows": 4})
    )
    is_active = forms.BooleanField(label=_("May act"), required=False)
    version = forms.IntegerField(widget=forms.HiddenInput)

    @classmethod
    def of(cls, profile: AgentProfile) -> AgentForm:
        """Return the form filled with the profile as it is."""
        return cls(initial={name: getattr(profile, name) for name in cls.base_fields})


class NewAgentForm(AgentForm):
    """A new agent: its slug is chosen once."""

    slug = forms.CharField(
        label=_("Id"),
        max_length=64,
        help_text=_("Lower-case letters, digits, dashes. It cannot be changed later."),
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
    )
    is_active = forms.BooleanField(label=_("May act"), required=False, initial=True)
    version = None  # type: ignore[assignment]  # Django's way to drop an inherited field

    field_order = ("slug", "name", "description", "provider", "model", "prompt", "is_active")


class AgentToolsForm(forms.Form):
    """``agents.list[].tools`` of one agent; lists hold one entry per line."""

    profile = forms.ChoiceField(
        label=_("Profile"),
        required=False,
        help_text=_("The set of tools it starts from."),
    )
    allow = forms.CharField(
        label=_("Allow only"),
        required=False,
        widget=forms.Textarea({"rows": 3, "class": "mono", "spellcheck": "false"}),
        help_text=_("Nothing else passes. A tool, group:name or a pattern with *, one per line."),
    )
    alsoAllow = forms.CharField(
        label=_("Also allow"),
        required=False,
        widget=forms.Textarea({"rows": 3, "class": "mono", "spellcheck": "false"}),
        help_text=_("Added to the profile."),
    )
    deny = forms.CharField(
        label=_("Deny"),
        required=False,
        widget=forms.Textarea({"rows": 3, "class": "mono", "spellcheck": "false"}),
        help_text=_("Always wins."),
    )
    comment = forms.CharField(
        label=_("Why"), required=False, max_length=500, help_text=_("Kept with the version.")
    )
    base_number = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(
        self, *args: Any, suggestions: Iterable[SuggestedEntry] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        names = [entry.entry for entry in suggestions if entry.kind == "profile"]
        field = self.fields["profile"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101  (declared above; for the types)
        field.choices = [("", _("none: not restricted by a profile"))] + [(n, n) for n in names]

    @classmethod
    def of(cls, rules: Mapping[str, object], version: PolicyVersion) -> AgentToolsForm:
        """Return the form filled with the rules in force."""
        initial: dict[str, object] = {"profile": rules.get("profile") or ""}
        for name in LISTS:
            entries = rules.get(name)
            initial[name] = "\n".join(map(str, entries)) if isinstance(entries, list) else ""
        initial["base_number"] = version.number
        return cls(initial=initial, suggestions=suggested_entries(version.table_set))

    @property
    def rules(self) -> dict[str, object]:
        """Return the lists as the policy document holds them."""
        data = self.cleaned_data
        found: dict[str, object] = {"profile": data["profile"]}
        for name in LISTS:
            lines = (line.strip() for line in data[name].replace(",", "\n").splitlines())
            found[name] = [line for line in lines if line]
        return found
