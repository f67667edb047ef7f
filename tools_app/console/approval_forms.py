"""Forms about approvals: the answer to one, and the filters of those that were answered."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import forms
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from tools_app.models import Approval, ApprovalStatus, GrantScope
from tools_app.selectors.approvals import ApprovalFilters
from tools_app.services.approvals import LONGEST_COMMENT

CHANNELS: dict[str, str | Promise] = {
    "browser": _("browser"),
    "phone": _("phone page"),
    "rest": _("REST"),
}


class AnswerForm(forms.Form):
    """How an approval is remembered, and a comment. ``binding`` is the digest that was shown."""

    binding = forms.CharField(max_length=71, widget=forms.HiddenInput)
    scope = forms.ChoiceField(
        label=_("Remember"),
        choices=GrantScope.choices,
        widget=forms.RadioSelect,
        initial=GrantScope.ONCE,
    )
    hours = forms.TypedChoiceField(
        label=_("for"),
        coerce=int,
        required=False,
        choices=[(1, _("1 hour")), (8, _("8 hours")), (24, _("1 day")), (168, _("7 days"))],
    )
    comment = forms.CharField(label=_("Comment"), required=False, max_length=LONGEST_COMMENT)

    @classmethod
    def for_approval(cls, approval: Approval, binding: str) -> AnswerForm:
        """Return the empty form of an approval; ids on a page with many stay apart."""
        form = cls(initial={"binding": binding}, auto_id=f"approval-{approval.pk}-%s")
        scopes = [
            (GrantScope.ONCE, _("nothing: only this call")),
            (GrantScope.SESSION, _("this exact call, in this session")),
            (GrantScope.UNTIL, _("this exact call, for some time")),
            (GrantScope.ALWAYS, _("this exact call, always")),
        ]
        if not approval.run.session:  # the service would refuse it
            scopes = [choice for choice in scopes if choice[0] != GrantScope.SESSION]
        form.fields["scope"].choices = scopes  # type: ignore[attr-defined]
        return form

    @property
    def until(self) -> datetime | None:
        """The end of what is remembered, for the scope that has one."""
        if self.cleaned_data["scope"] != GrantScope.UNTIL:
            return None
        return timezone.now() + timedelta(hours=self.cleaned_data["hours"] or 1)


class HistoryFilterForm(forms.Form):
    """The filters of the history, as they stand in its address."""

    status = forms.ChoiceField(
        label=_("State"), required=False, choices=[("", _("any")), *ApprovalStatus.choices]
    )
    agent = forms.CharField(label=_("Agent"), required=False, max_length=64)
    tool = forms.CharField(label=_("Tool"), required=False, max_length=200)
    via = forms.ChoiceField(
        label=_("Answered in"), required=False, choices=[("", _("any")), *CHANNELS.items()]
    )
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

    @property
    def filters(self) -> ApprovalFilters:
        """What the selector takes; a form that is not valid filters nothing."""
        if not self.is_valid():
            return ApprovalFilters()
        data = self.cleaned_data
        since = timezone.now() - timedelta(hours=data["hours"]) if data["hours"] else None
        return ApprovalFilters(
            status=data["status"],
            agent=data["agent"],
            tool=data["tool"],
            decided_via=data["via"],
            since=since,
        )
