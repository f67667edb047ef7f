"""The console's components as template tags: chips, times, ids, trees, fields, charts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import template
from django.forms import BaseForm, BoundField
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html, json_script
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tools_app.console import moments, sentences, visible
from tools_app.console.differences import changes
from tools_app.console.frame import FrameState, frame_state_of
from tools_app.console.json_trees import json_tree
from tools_app.console.preferences import preference, times_of
from tools_app.console.sparklines import sparkline
from tools_app.console.words import script_words
from tools_app.models import Freeze, FreezeScope, RunStatus
from tools_app.models.approvals import ApprovalStatus
from tools_app.services.run_facts import argument_preview

register = template.Library()

# effect → hue, icon, word. A chip is never colour alone.
DECISIONS: Mapping[str, tuple[str, str, str | Promise]] = {
    "allow": ("good", "check", gettext_lazy("allow")),
    "ask": ("attention", "ask", gettext_lazy("ask")),
    "deny": ("bad", "cross", gettext_lazy("deny")),
    "": ("neutral", "dash", gettext_lazy("not available")),
}
STATUSES: Mapping[str, tuple[str, str, str | Promise]] = {
    RunStatus.WAITING: ("attention", "ask", RunStatus.WAITING.label),
    RunStatus.QUEUED: ("neutral", "clock", RunStatus.QUEUED.label),
    RunStatus.RUNNING: ("neutral", "play", RunStatus.RUNNING.label),
    RunStatus.SUCCEEDED: ("good", "check", RunStatus.SUCCEEDED.label),
    RunStatus.FAILED: ("bad", "alert", RunStatus.FAILED.label),
    RunStatus.TIMED_OUT: ("bad", "clock", RunStatus.TIMED_OUT.label),
    RunStatus.CANCELLED: ("neutral", "stop", RunStatus.CANCELLED.label),
    RunStatus.REFUSED: ("bad", "cross", RunStatus.REFUSED.label),
    RunStatus.INTERRUPTED: ("bad", "stop", RunStatus.INTERRUPTED.label),
    ApprovalStatus.PENDING: ("attention", "clock", ApprovalStatus.PENDING.label),
    ApprovalStatus.APPROVED: ("good", "check", ApprovalStatus.APPROVED.label),
    ApprovalStatus.DENIED: ("bad", "cross", ApprovalStatus.DENIED.label),
    ApprovalStatus.EXPIRED: ("neutral", "clock", ApprovalStatus.EXPIRED.label),
    ApprovalStatus.SUPERSEDED: ("neutral", "dash", ApprovalStatus.SUPERSEDED.label),
    "active": ("good", "check", gettext_lazy("active")),
    "inactive": ("neutral", "dash", gettext_lazy("switched off")),
    "revoked": ("bad", "cross", gettext_lazy("revoked")),
    "frozen": ("bad", "freeze", gettext_lazy("frozen")),
    "lifted": ("neutral", "check", gettext_lazy("lifted")),
}


# --- the frame -------------------------------------------------------------------------------


@register.simple_tag(takes_context=True)
def frame_state(context: template.Context) -> FrameState:
    """Give what the frame shows around every page."""
    return frame_state_of(context["request"])


@register.simple_tag(takes_context=True)
def scheme_attribute(context: template.Context) -> str:
    """Give the root element's attribute for a chosen colour scheme, nothing for the system's."""
    scheme = preference(context["request"], "scheme") if "request" in context else "auto"
    return "" if scheme == "auto" else format_html(' data-scheme="{}"', scheme)


@register.simple_tag(takes_context=True)
def keys_preference(context: template.Context) -> str:
    """Give "on" or "off": whether single keys act."""
    return preference(context["request"], "keys")


@register.simple_tag
def words() -> SafeString:
    """Give the sentences of the page scripts as a JSON block."""
    return json_script(script_words(), "words")


@register.simple_tag
def icon(name: str) -> SafeString:
    """Draw one icon of the sprite; it is decoration, the word beside it carries the meaning."""
    return format_html('<svg class="icon" aria-hidden="true"><use href="#i-{}"/></svg>', name)


# --- states ----------------------------------------------------------------------------------


@register.inclusion_tag("console/parts/decision_chip.html")
def decision_chip(effect: str, summary: str = "", decision_id: object = None) -> dict[str, object]:
    """Draw "allow", "ask", "deny" or "not available"; hover or focus shows the reason."""
    hue, icon_name, word = DECISIONS.get(effect, DECISIONS[""])
    return {
        "hue": hue,
        "icon_name": icon_name,
        "word": word,
        "summary": summary,
        "decision_id": decision_id,
    }


@register.filter
def reason(summary: str) -> SafeString:
    """Write a decision's summary without the effect it begins with: the chip says that."""
    effect, dash, rest = summary.partition(" — ")
    return visible_text(sentences.said(rest if dash and effect in DECISIONS else summary))


@register.filter
def said(sentence: object) -> SafeString:
    """Write a sentence of the policy or of a service in the reader's language."""
    return visible_text(sentences.said(str(sentence)))


@register.filter
def difference(sentence: str) -> SafeString:
    """Write what differs between two calls."""
    return visible_text(sentences.difference(sentence))


@register.filter
def layer_reason(word: str) -> str:
    """Write why a layer kept or removed a tool."""
    return sentences.layer_reason(word)


@register.simple_tag
def status_chip(status: str) -> SafeString:
    """Draw a state as icon and word."""
    hue, icon_name, word = STATUSES.get(status, ("neutral", "dash", status))
    return format_html('<span class="chip chip-{}">{}{}</span>', hue, icon(icon_name), word)


@register.simple_tag(takes_context=True)
def moment(context: template.Context, value: datetime | None) -> SafeString:
    """Write a time in the reader's style, with the exact one on hover."""
    if value is None:
        return mark_safe("–")
    style = _times(context)
    return format_html(
        '<time datetime="{}" title="{}"{}>{}</time>',
        value.astimezone(UTC).isoformat(timespec="milliseconds"),
        moments.exact(value, style),
        mark_safe(" data-ago") if style.mode == moments.RELATIVE else "",
        moments.written(value, style),
    )


@register.simple_tag(takes_context=True)
def clock_time(context: template.Context, value: datetime | None) -> SafeString:
    """Write the time of day to a tenth of a second, with the exact time on hover."""
    if value is None:
        return mark_safe("<time></time>")
    style = _times(context)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        value.astimezone(UTC).isoformat(timespec="milliseconds"),
        moments.exact(value, style),
        moments.clock(value, style),
    )


def _times(context: template.Context) -> moments.TimeStyle:
    request: HttpRequest | None = context.get("request")
    return times_of(request) if request is not None else moments.TimeStyle(moments.UTC)


@register.filter
def freeze_target(freeze: Freeze) -> SafeString | str:
    """Write what a freeze stops: "agent support", "tool exec", "everything"."""
    if freeze.scope == FreezeScope.EVERYTHING:
        return _("everything")
    kind = {FreezeScope.AGENT: _("agent"), FreezeScope.TOOL: _("tool"), FreezeScope.NODE: _("node")}
    return format_html("{} {}", kind[FreezeScope(freeze.scope)], visible_text(freeze.target))


@register.filter
def ends_soon(freeze: Freeze) -> bool:
    """Say whether a freeze ends within ten minutes: time to extend it."""
    return freeze.expires_at - timezone.now() <= timedelta(minutes=10)


@register.filter
def milliseconds(value: float | None) -> str:
    """Write a duration given in milliseconds with a fitting unit."""
    return moments.milliseconds(value)


@register.simple_tag
def duration(begin: datetime, end: datetime) -> str:
    """Write the time between two moments."""
    return moments.milliseconds((end - begin).total_seconds() * 1000)


# --- text and values -------------------------------------------------------------------------


@register.filter(name="visible")
def visible_text(value: object) -> SafeString:
    """Escape untrusted text, and draw every hidden character as ``⟨U+202E⟩``."""
    parts = (
        format_html('<span class="marked">{}</span>', piece.text)
        if piece.is_marked
        else format_html("{}", piece.text)
        for piece in visible.pieces(str(value if value is not None else ""))
    )
    return mark_safe("".join(parts))  # noqa: S308  (every part was escaped above)


@register.inclusion_tag("console/parts/text_warnings.html")
def text_warnings(value: object) -> dict[str, object]:
    """Say how much of a text is hidden, and which host names may not be what they seem."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {"hidden": visible.hidden_count(text), "hosts": visible.host_warnings(text)}


@register.inclusion_tag("console/parts/short_id.html")
def short_id(value: UUID | str, url: str = "") -> dict[str, object]:
    """Draw an id cut in the middle, whole on hover, with a copy button."""
    whole = str(value)
    short = whole if len(whole) <= 13 else f"{whole[:4]}…{whole[-6:]}"
    return {"whole": whole, "short": short, "url": url}


@register.simple_tag
def run_link(run_id: UUID) -> SafeString:
    """Link to a run by its shortened id: the end of it, which differs from row to row."""
    return format_html(
        '<a class="mono nowrap" href="{}" title="{}">{}…{}</a>',
        reverse("console:run", args=[run_id]),
        run_id,
        str(run_id)[:4],
        str(run_id)[-6:],
    )


@register.filter
def preview(arguments: object) -> str:
    """Write arguments on one short line."""
    return argument_preview(arguments)


@register.inclusion_tag("console/parts/json_tree.html")
def json_value(value: object) -> dict[str, object]:
    """Draw a JSON value as a folded tree with a copy button."""
    return {"node": json_tree(value), "text": json.dumps(value, ensure_ascii=False, indent=2)}


@register.inclusion_tag("console/parts/folded_text.html")
def folded_text(value: str, lines: int = 20, label: str = "") -> dict[str, object]:
    """Draw the first lines of a text and fold the rest."""
    rows = value.splitlines(keepends=True)
    return {
        "head": "".join(rows[:lines]),
        "tail": "".join(rows[lines:]),
        "more": max(len(rows) - lines, 0),
        "label": label or _("Text"),
    }


@register.inclusion_tag("console/parts/differences.html")
def differences(before: object, after: object) -> dict[str, object]:
    """Say in words what changed from one JSON value to another."""
    return {"changes": changes(before, after)}


@register.inclusion_tag("console/parts/sparkline.html")
def spark(points: Sequence[object], attribute: str, hue: str = "") -> dict[str, object]:
    """Draw one attribute of a list of points as a small chart; its table is the page's part."""
    chart = sparkline([getattr(point, attribute) for point in points])
    label = _("%(what)s over time: highest %(highest)s, last %(last)s") % {
        "what": attribute.removesuffix("_ms"),
        "highest": f"{chart.highest:g}",
        "last": f"{chart.last:g}",
    }
    return {"chart": chart, "label": label, "hue": hue}


@register.simple_tag
def bar(start: float, width: float) -> SafeString:
    """Draw a stretch of a scale from 0 to 100."""
    return format_html(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" focusable="false">'
        '<rect x="{}" y="1" width="{}" height="6"/></svg>',
        f"{min(start, 99.3):.2f}",
        f"{width:.2f}",
    )


# --- lists and forms -------------------------------------------------------------------------


@register.inclusion_tag("console/parts/pagination.html", takes_context=True)
def pagination(context: template.Context, page: Any) -> dict[str, object]:
    """Draw "newer" and "older" for a page of a list that is read by cursor."""
    return {
        "older": _with_query(context["request"], cursor=page.next_cursor),
        "newer": _with_query(context["request"], cursor=page.previous_cursor),
        "count": len(page.items),
        "is_first": "cursor" not in context["request"].GET,
    }


@register.simple_tag(takes_context=True)
def with_query(context: template.Context, **parameters: object) -> str:
    """Give the present address with some of its parameters replaced; ``None`` removes one."""
    return _with_query(context["request"], keep_empty=True, **parameters)


def _with_query(request: HttpRequest, *, keep_empty: bool = False, **parameters: object) -> str:
    if not keep_empty and not any(parameters.values()):
        return ""
    query = request.GET.copy()
    for name, value in parameters.items():
        if value in (None, ""):
            query.pop(name, None)
        else:
            query[name] = str(value)
    return f"{request.path}?{query.urlencode()}" if query else request.path


@register.simple_tag(takes_context=True)
def export_query(context: template.Context) -> str:
    """Give the filters of the list of runs as the REST API names them."""
    given = context["request"].GET
    names = {"q", "agent", "tool", "status", "outcome", "effect"}
    query = {name: given[name] for name in sorted(names) if given.get(name)}
    if given.get("token"):
        query["token_key"] = given["token"]
    if (hours := given.get("hours", "")).isdigit() and len(hours) < 5:
        query["since"] = (timezone.now() - timedelta(hours=int(hours))).isoformat()
    return urlencode(query)


@register.simple_tag(takes_context=True)
def first_call(context: template.Context) -> str:
    """Give a command that makes a first run over REST."""
    address = context["request"].build_absolute_uri("/api/v1/tools/calculator/execute")
    return (
        f'curl -s {address} -H "Authorization: Bearer $OPENJARVIS_TOKEN" '
        """-H 'Content-Type: application/json' -d '{"arguments": {"expression": "2+2"}}'"""
    )


@register.inclusion_tag("console/parts/field.html")
def filter_field(bound: BoundField, wide: bool = False) -> dict[str, object]:
    """Draw one field of a filter, where nothing is required and nobody says so."""
    return field(bound) | {"wide": wide, "is_filter": True}


@register.inclusion_tag("console/parts/field.html")
def field(bound: BoundField) -> dict[str, object]:
    """Draw one form field: label above, help below, the error beside it."""
    described = [f"{bound.id_for_label}-help"] if bound.help_text else []
    attributes: dict[str, str | bool] = {}
    if bound.errors:
        described.insert(0, f"{bound.id_for_label}-error")
        attributes["aria-invalid"] = "true"
    if described:
        attributes["aria-describedby"] = " ".join(described)
    return {"bound": bound, "widget": bound.as_widget(attrs=attributes)}


@register.inclusion_tag("console/parts/error_summary.html")
def error_summary(form: BaseForm) -> dict[str, object]:
    """List every error of a form, each linked to its field; it takes the focus."""
    return {"entries": list(_errors(form)) if form.is_bound else []}


def _errors(form: BaseForm) -> Iterable[tuple[str, str, str]]:
    for name, messages in form.errors.items():
        known = name in form.fields
        for message in messages:
            if known:
                yield form[name].id_for_label, str(form[name].label), str(message)
            else:
                yield "", "", str(message)


@register.simple_tag
def decision_url(decision_id: object) -> str:
    """Give the address of the page that explains a decision, or nothing."""
    return reverse("console:decision", args=[decision_id]) if decision_id else ""
