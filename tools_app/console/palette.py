"""What the palette finds: pages, actions, agents, tools, runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from tools_app.console.frame import Place
from tools_app.selectors.palette import agents_named, run_exists, tools_named
from tools_app.services.access import Actor

MAX_ENTRIES = 12


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """One line of the palette; ``kind`` says what the label names."""

    label: str | Promise
    kind: str
    icon: str
    url: str


def palette_entries(query: str, pages: Iterable[Place], actor: Actor) -> list[PaletteEntry]:
    """Return what matches, at most twelve, the most exact kinds first."""
    return list(islice(_matches(query, pages, actor), MAX_ENTRIES))


def _matches(query: str, pages: Iterable[Place], actor: Actor) -> Iterator[PaletteEntry]:
    folded = query.casefold()
    yield from _runs(query)
    for place in pages:
        if folded in str(place.label).casefold():
            yield PaletteEntry(place.label, _("page"), place.icon, place.url)
    if actor.has_any("approvals", "agents"):
        yield from _freezes(folded)
    if not query:
        return
    for slug in agents_named(query, limit=MAX_ENTRIES):
        yield PaletteEntry(slug, _("agent"), "agents", reverse("console:agent", args=[slug]))
    for name in tools_named(query, limit=MAX_ENTRIES):
        yield PaletteEntry(name, _("tool"), "tools", reverse("console:tool", args=[name]))


def _runs(query: str) -> Iterator[PaletteEntry]:
    try:
        run_id = UUID(query)
    except ValueError:
        return
    if run_exists(run_id):
        yield PaletteEntry(query, _("run"), "runs", reverse("console:run", args=[run_id]))


def _freezes(folded: str) -> Iterator[PaletteEntry]:
    """Offer "freeze everything" and, for "freeze agent support", that very agent."""
    verb = _("freeze").casefold()
    start = reverse("console:freeze-new")
    words = folded.split()
    if words and words[0] == verb and len(words) > 1:
        for slug in agents_named(words[-1], limit=4):
            label = _("Freeze agent %(agent)s…") % {"agent": slug}
            yield PaletteEntry(label, _("action"), "freeze", f"{start}?scope=agent&target={slug}")
    label = _("Freeze everything…")
    if folded in label.casefold() or (words and words[0] == verb):
        yield PaletteEntry(label, _("action"), "freeze", f"{start}?scope=everything")
