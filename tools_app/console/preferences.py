"""What a reader chose for this browser: colours, times, keys. Cookies, so pages need no script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from tools_app.console.moments import LOCAL, RELATIVE, UTC, TimeStyle, time_style

ONE_YEAR_S = 365 * 24 * 3600
ZONE_COOKIE = "zone"  # the browser's own zone, written by the frame's script

# Name of the cookie → its label and its choices; the first choice is the default.
PREFERENCES: Mapping[str, tuple[str | Promise, Mapping[str, str | Promise]]] = {
    "scheme": (_("Colours"), {"auto": _("System"), "light": _("Light"), "dark": _("Dark")}),
    "times": (_("Times"), {RELATIVE: _("Relative"), LOCAL: _("Local"), UTC: _("UTC")}),
    "keys": (_("Single keys"), {"on": _("On"), "off": _("Off")}),
}


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    label: str | Promise
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    name: str
    label: str | Promise
    choices: tuple[Choice, ...]


def preference(request: HttpRequest, name: str) -> str:
    """Return the reader's choice, or the default when there is none or it is unknown."""
    choices = PREFERENCES[name][1]
    value = request.COOKIES.get(name, "")
    return value if value in choices else next(iter(choices))


def preference_groups(request: HttpRequest) -> list[ChoiceGroup]:
    """Return every preference with its choices, the present one marked."""
    groups = []
    for name, (label, choices) in PREFERENCES.items():
        chosen = preference(request, name)
        options = tuple(Choice(value, text, value == chosen) for value, text in choices.items())
        groups.append(ChoiceGroup(name, label, options))
    return groups


def keep_preference(response: HttpResponse, name: str, value: str) -> bool:
    """Store a choice in the answer; an unknown name or value changes nothing."""
    if name not in PREFERENCES or value not in PREFERENCES[name][1]:
        return False
    response.set_cookie(name, value, max_age=ONE_YEAR_S, samesite="Lax", httponly=False)
    return True


def times_of(request: HttpRequest) -> TimeStyle:
    """Return how this page writes times; ``?tz=`` in its address wins, so that links keep it."""
    mode = request.GET.get("tz") or preference(request, "times")
    return time_style(mode, request.COOKIES.get(ZONE_COOKIE, ""))
