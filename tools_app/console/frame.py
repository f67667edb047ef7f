"""What surrounds every page: places, waiting approvals, freezes, the reader's choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from tools_app.console.preferences import ChoiceGroup, preference_groups
from tools_app.models import Freeze
from tools_app.selectors.frame import frame_facts
from tools_app.selectors.freezes import with_refusals
from tools_app.services.access import actor_for_user

# URL name → label, icon, and the other URL names that belong to the same place.
PLACES: Sequence[tuple[str, str | Promise, str, frozenset[str]]] = (
    ("overview", _("Overview"), "overview", frozenset()),
    ("live", _("Live"), "live", frozenset()),
    (
        "approvals",
        _("Approvals"),
        "approvals",
        frozenset({"approvals-history", "approvals-remembered"}),
    ),
    ("runs", _("Runs"), "runs", frozenset({"run", "decision"})),
    ("policy", _("Policy"), "policy", frozenset({"policy-version"})),
    ("agents", _("Agents"), "agents", frozenset({"agent", "agent-new"})),
    ("tools", _("Tools"), "tools", frozenset({"tool"})),
    ("freezes", _("Freezes"), "freeze", frozenset({"freeze-new"})),
    ("tokens", _("Tokens"), "tokens", frozenset()),
)


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of the navigation."""

    name: str
    label: str | Promise
    icon: str
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class FrameState:
    """What the frame shows; ``cursor`` is the event after which the page is out of date."""

    places: tuple[Place, ...]
    preferences: list[ChoiceGroup]
    approvals_waiting: int
    freezes: list[Freeze]
    cursor: int
    may_freeze: bool


def places(request: HttpRequest) -> tuple[Place, ...]:
    """Return the navigation, the place of the present page marked."""
    match = request.resolver_match
    current = match.url_name if match and match.namespace == "console" else ""
    return tuple(
        Place(name, label, icon, reverse(f"console:{name}"), current == name or current in inner)
        for name, label, icon, inner in PLACES
    )


def frame_state_of(request: HttpRequest) -> FrameState:
    """Return the frame for the page being rendered."""
    facts = frame_facts()
    actor = actor_for_user(request.user)
    return FrameState(
        places=places(request),
        preferences=preference_groups(request),
        approvals_waiting=facts.approvals_waiting,
        freezes=with_refusals(facts.freezes),
        cursor=facts.latest_seq,
        may_freeze=actor.has_any("approvals", "agents"),
    )
