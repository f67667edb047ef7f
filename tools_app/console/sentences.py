"""What the policy and the services say, in the reader's language.

They write plain English, because what they write is kept in the log and answered over REST. A page
looks such a sentence up here; one that is not listed, such as a tool's own output, stays as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain

from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_noop as _

EFFECTS = frozenset(("allow", "ask", "deny"))

# The more exact one stands first. A placeholder matches any text; %(steps)s is looked up again.
DECISIONS = (
    _("offered tools"),
    _("owner-only tools"),
    _("voice channel"),
    _("name conflict"),
    _("optional tools"),
    _("no tool of this name is offered"),
    _("only for the owner, and the sender is not the owner"),
    _("not offered to the voice channel"),
    _("its plugin or name collides with another tool"),
    _("optional, and no allow entry names it or its plugin"),
    _("the tool requires confirmation"),
    _("no rule restricts it"),
    _("%(rule)s: not in the list"),
    _("%(rule)s: not in %(list)s"),
    _("built-in %(rule)s"),
)
FIELDS = (
    _("must be one of %(choices)s"),
    _("must name what to freeze; with everything it must be empty"),
    _("there is no %(scope)s %(name)s"),
    _("must have 1 to %(most)s characters"),
    _("must be in the future"),
    _("must be later than the present end"),
    _("must be from 1 to %(most)s"),
    _("the call belongs to no session"),
    _("goes with the scope until, and only with it"),
    _("This cannot be set."),
    _("Must have at most %(most)s characters."),
    _("must be a text of at most %(most)s characters"),
    _("Give a name of 1 to %(most)s characters."),
    _("Choose at least one scope."),
    _("Unknown scope %(scope)s; there are: %(known)s."),
    _("Give the time with its zone."),
    _("This time has passed."),
)
REASONS = {  # a layer's stable word → what it means
    "no_rules": _("no rules here"),
    "denied": _("a deny entry names it"),
    "no_allow_list": _("there is no allow list"),
    "allow_list_ignored": _("the allow list is ignored"),
    "allowed": _("an allow entry names it"),
    "implied": _("another entry brings it along"),
    "not_in_allow_list": _("not in the allow list"),
    "offered": _("it is offered"),
    "owner": _("only for the owner"),
    "voice": _("not on the voice channel"),
    "conflict": _("its name is taken"),
    "optional": _("optional, and not asked for"),
    "not_offered": _("it is not offered"),
}
FIXES = (
    _("To allow %(tool)s: %(steps)s."),
    _("To ask about %(tool)s: %(steps)s."),
    _("To deny %(tool)s: %(steps)s."),
)
STEPS = (
    _("add an entry to %(place)s"),
    _("add %(entry)s to %(place)s"),
    _("remove %(entry)s from %(place)s"),
    _("set %(place)s to %(value)s"),
)
WARNINGS = (
    _(
        "%(step)s: unknown entries (%(names)s); "
        "the list is ignored so that core tools stay usable; add plugin tools by alsoAllow"
    ),
    _(
        "%(step)s: unknown entries (%(names)s); "
        "these entries match nothing unless the plugin is enabled"
    ),
    _("%(names)s: read as %(meant)s"),
    _("%(names)s: more than once in the list"),
    _("%(names)s: no known tool, group or plugin of this name — did you mean %(guess)s?"),
    _("%(names)s: no known tool, group or plugin of this name"),
    _("%(names)s: no tool offered now matches"),
    _("%(names)s: without effect, deny of the same scope covers all of it"),
    _("names no core tool offered to anyone, so it is ignored for them and restricts nothing"),
    _(
        "names no core tool offered to senders who are not owners, "
        "so it is ignored for them and restricts nothing"
    ),
    _("none of the profile's tools is offered now"),
    _("an agent with this id stands before it; the first counts"),
    _("%(key)s after it means the same provider; the last counts"),
)
CALLS = (
    _("There is no tool %(name)s."),
    _("The tool %(name)s is switched off."),
    _("The tool %(name)s is not available on this machine now."),
    _("The tool %(name)s is not available in this process."),
    _("The tool %(name)s changed after this call was made."),
    _("The tool %(name)s is not offered on %(surface)s."),
    _("The tool cannot be changed like this."),
    _("There is no agent %(name)s."),
    _("There is an agent %(name)s already."),
    _("The agent %(name)s is switched off."),
    _("The agent %(name)s is at version %(now)s by now, not %(version)s."),
    _("The agent profile is not valid."),
    _("Name the version of the agent that you change (If-Match)."),
    _("There is no such run."),
    _("The run has ended already: %(state)s."),
    _("Everything is frozen until %(time)s: %(reason)s"),
    _("Agent %(name)s is frozen until %(time)s: %(reason)s"),
    _("Tool %(name)s is frozen until %(time)s: %(reason)s"),
    _("There is no such freeze."),
    _("This freeze has ended."),
    _("The freeze is not valid."),
    _("There is no such limit."),
    _("The limit is not valid."),
    _("%(scope)s %(name)s may spend %(cost)s USD per %(seconds)s s."),
    _("%(scope)s %(name)s has %(open)s runs open and may have %(most)s."),
    _("%(scope)s %(name)s may make %(most)s calls per %(seconds)s s."),
    _("%(scope)s %(name)s already has a limit per %(seconds)s s."),
    _("This idempotency key was used for another request."),
    _("The first request with this idempotency key has not ended yet."),
    _("The stored arguments are not the ones that were checked."),
    _("timed out after %(seconds)s s"),
    _("The process that ran this tool died; it is not known how far it came."),
    _("Something went wrong on our side; the call was refused."),
)
APPROVALS = (
    _("%(actor)s, owner %(name)s"),
    _("There is no such approval."),
    _("There is no such remembered approval."),
    _("This remembered approval was revoked before."),
    _("Nobody decided in time; ask again."),
    _("Nobody decided in time."),
    _("The call was denied."),
    _("The call was cancelled."),
    _("The policy or the tool changed since this was asked."),
    _("This approval is %(state)s by %(person)s."),
    _("This approval is %(state)s."),
    _("This is not the call that was shown: look at it again."),
    _("The policy or the tool changed since this was asked; ask again."),
    _("The policy asks for approval now; make the call again."),
    _("You asked for this call, yourself or by a token of yours: somebody else must approve."),
    _("The approval cannot be remembered so."),
    _("The extension is not valid."),
    _("The comment is not valid."),
    _("Approving needs the right approvals."),
)
RIGHTS = (
    _("Your roles do not include the right %(scope)s."),
    _("This token lacks the scope %(scope)s."),
    _("This token acts for the agent %(name)s only."),
    _("This token may not use the tool %(name)s."),
    _("This token may use certain tools only, and give no more."),
    _("The token of this call may not run tools any more."),
    _("Whoever made this call may not run tools any more."),
    _("Only admins, and tokens of admins, may change agent profiles."),
    _("Only an admin can make a token for somebody else."),
    _("Only a user or a token can have a ticket."),
    _("The owner does not have the right %(scope)s."),
    _("There is no such token."),
    _("The token cannot be made like this."),
    _("A token cannot make one that outlives it."),
    _("No policy has been published yet: every call is refused."),
    _("The policy could not be read or evaluated: every call is refused."),
    _("The policy is not valid."),
    _("Name the policy version that you change (If-Match)."),
    _("There is no version %(number)s of the policy."),
    _("Version %(number)s of the policy is no document."),
    _("Version %(now)s of the policy is in force by now, not %(base)s."),
    _("There is no such decision."),
    _("Name the configuration that you change (If-Match)."),
    _("The configuration cannot be applied."),
    _("The configuration has changed since this plan."),
    _("The file cannot be read."),
)
DIFFERENCES = (  # what differs from the last approved call
    _("%(place)s: removed (was %(value)s)"),
    _("%(place)s: added %(value)s"),
    _("definition of the tool changed"),
    _("policy version: %(change)s"),
    _("time limit (s): %(change)s"),
    _("caller: %(change)s"),
    _("provider: %(change)s"),
    _("model: %(change)s"),
    _("and %(n)s more"),
)
_STEP_BREAK = re.compile(r", and (?=add |remove |set )")


def _compiled(template: str) -> tuple[re.Pattern[str], str]:
    pattern = re.sub(r"%\\\((\w+)\\\)s", r"(?P<\1>.+?)", re.escape(template))
    return re.compile(pattern, re.DOTALL), template


_EXACT = frozenset(
    text
    for text in chain(DECISIONS, FIXES, STEPS, WARNINGS, CALLS, APPROVALS, RIGHTS, FIELDS)
    if "%(" not in text
)
_GENERAL = [
    _compiled(t) for t in chain(FIXES, WARNINGS, CALLS, APPROVALS, RIGHTS, FIELDS) if "%(" in t
]
_OF_DECISIONS = [_compiled(text) for text in DECISIONS if "%(" in text]
_OF_DIFFERENCES = [_compiled(text) for text in DIFFERENCES]
_OF_STEPS = [_compiled(text) for text in STEPS]


def said(text: str) -> str:
    """Return a sentence of the policy or of a service in the reader's language.

    A decision's summary ("deny — why — v12") is translated part by part.
    """
    language = get_language() or "en"
    return text if language.startswith("en") else _said(text, language)


def difference(text: str) -> str:
    """Return what differs between two calls in the reader's language."""
    return _filled(text, _OF_DIFFERENCES) or text


def layer_reason(reason: str) -> str:
    """Return what a layer's stable word means, in the reader's language."""
    return gettext(REASONS[reason]) if reason in REASONS else reason


@lru_cache(maxsize=2048)
def _said(text: str, language: str) -> str:
    """Look a sentence up; ``language`` is the active one, and a part of what is remembered."""
    if text in _EXACT:
        return gettext(text)
    parts = text.split(" — ")
    if len(parts) > 1 and (parts[0] in EFFECTS or re.fullmatch(r"v\d+", parts[-1])):
        return " — ".join(_part(part, language) for part in parts)
    return _filled(text, _GENERAL) or text


def _part(text: str, language: str) -> str:
    return (
        gettext(text) if text in EFFECTS else _filled(text, _OF_DECISIONS) or _said(text, language)
    )


def _filled(text: str, patterns: list[tuple[re.Pattern[str], str]]) -> str:
    for pattern, template in patterns:
        if found := pattern.fullmatch(text):
            values = found.groupdict()
            if "steps" in values:
                steps = _STEP_BREAK.split(values["steps"])
                values["steps"] = gettext(", and ").join(_filled(s, _OF_STEPS) or s for s in steps)
            return gettext(template) % values
    return ""
