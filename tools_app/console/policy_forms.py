"""The form around the policy document."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from tools_app.models import PolicyVersion
from tools_app.policy.places import MAX_FILE_BYTES

MAX_CHARACTERS = 1_000_000


class PolicyForm(forms.Form):
    """The document as JSON text, and the version that the edit is based on."""

    document = forms.CharField(
        label=_("Document"),
        max_length=MAX_CHARACTERS,
        widget=forms.Textarea({"rows": 24, "class": "mono", "spellcheck": "false"}),
        help_text=_("The shape of OpenClaw's configuration: tools, agents.list[].tools, channels."),
    )
    comment = forms.CharField(label=_("What changes and why"), required=False, max_length=500)
    base_number = forms.IntegerField(widget=forms.HiddenInput)

    @classmethod
    def of(cls, version: PolicyVersion) -> PolicyForm:
        """Return the form filled with the version in force."""
        text = json.dumps(version.document, ensure_ascii=False, indent=2)
        return cls(initial={"document": text, "base_number": version.number})

    def clean_document(self) -> Any:
        """Return the parsed document; the complaint names the line."""
        try:
            return json.loads(self.cleaned_data["document"])
        except json.JSONDecodeError as error:
            raise ValidationError(
                _("This is not JSON: %(problem)s at line %(line)d, column %(column)d."),
                params={"problem": error.msg, "line": error.lineno, "column": error.colno},
            ) from error
        except RecursionError as error:
            raise ValidationError(_("This is nested too deeply.")) from error


class PlanForm(forms.Form):
    """A file to plan with, chosen or pasted."""

    kind = forms.ChoiceField(
        label=_("Kind of file"),
        choices=[("yaml", _("YAML, as exported here")), ("openclaw", "openclaw.json")],
    )
    file = forms.FileField(label=_("File"), required=False)
    text = forms.CharField(
        label=_("Or its text"),
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 10, "class": "mono", "spellcheck": "false"}),
    )

    def clean(self) -> dict[str, Any]:
        """Ask for something to read."""
        data = super().clean() or self.cleaned_data
        if not data.get("file") and not data.get("text"):
            self.add_error("file", _("Choose a file or paste its text."))
        return data

    def content(self) -> bytes | str:
        """Return what the file holds, else the pasted text; no more than is ever read."""
        chosen = self.cleaned_data["file"]
        return chosen.read(MAX_FILE_BYTES + 1) if chosen else str(self.cleaned_data["text"])
