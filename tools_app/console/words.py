"""The sentences the page scripts say, translated here and handed over as one JSON block."""

from __future__ import annotations

from django.utils.translation import gettext as _


def script_words() -> dict[str, str]:
    """Return message id → text; ``{n}`` and the like are filled in by the script."""
    return {
        "live": _("live"),
        "connecting": _("connecting"),
        "reconnecting": _("reconnecting ({n} s)"),
        "polling": _("polling"),
        "offline": _("offline"),
        "connection_lost": _("Connection lost. Trying again."),
        "connection_back": _("Connected again. Nothing was missed."),
        "copied": _("Copied."),
        "copy_failed": _("The browser did not allow copying."),
        "frozen": _("A freeze began."),
        "unfrozen": _("A freeze ended."),
        "approval_new": _("A new approval waits."),
        "failed": _("That did not work: the server answered {status}."),
        "unreachable": _("The server cannot be reached."),
        "results": _("{n} results"),
        "just_now": _("just now"),
        "ago": _("{span} ago"),
        "in": _("in {span}"),
        "unit_s": _("{n} s"),
        "unit_min": _("{n} min"),
        "unit_h": _("{n} h"),
        "unit_days": _("{n} days"),
        "as_of": _("as of {time}"),
    }
