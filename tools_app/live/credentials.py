"""Who reads a stream, and whether they still may.

A stream lives for hours, so what opened it is looked at again: at once when access or tokens
changed (their revisions moved), and every quarter of a second for what ends without a change,
such as a session that was signed out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.contrib.auth import get_user, get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils import timezone

from tools_app.live.frames import RIGHTS_CHANGED, SIGNED_OUT, Closing
from tools_app.models import ApiToken
from tools_app.services.access import Actor, actor_for_token, actor_for_user
from tools_app.services.configuration import revision_values
from tools_app.services.tokens import authenticate_token, redeem_ws_ticket

SURFACE = "live"

Revisions = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What opened a stream. ``seen`` are the revisions it was last compared under."""

    actor: Actor
    seen: Revisions
    session_key: str = ""
    password_mark: str = ""
    expires_at: datetime | None = None

    @property
    def is_ticket_of_user(self) -> bool:
        """Whether a signed-in user's ticket opened the stream, not a cookie or a token."""
        return not self.session_key and self.actor.token_id is None


def access_revisions() -> Revisions:
    """Return the revisions that move when anybody's rights or tokens change."""
    values = revision_values()
    return values.get("access", 0), values.get("tokens", 0)


def from_session(session_key: str | None) -> Credential | None:
    """Return who is signed in with this session cookie, or ``None``."""
    if not session_key:
        return None
    seen = access_revisions()
    request = HttpRequest()
    request.session = SessionStore(session_key)
    user = get_user(request)
    if not user.is_authenticated:
        return None
    return Credential(
        actor=actor_for_user(user, surface=SURFACE),
        seen=seen,
        session_key=session_key,
        password_mark=user.get_session_auth_hash(),
    )


def from_bearer(text: str) -> Credential:
    """Return the caller a token stands for; raises InvalidToken."""
    seen = access_revisions()
    token = authenticate_token(text)
    return Credential(actor=actor_for_token(token), seen=seen, expires_at=token.expires_at)


def from_ticket(text: str) -> Credential:
    """Use up a one-time ticket; raises InvalidToken."""
    seen = access_revisions()
    actor = redeem_ws_ticket(text)
    if actor.token_id is not None:
        token = ApiToken.objects.get(pk=actor.token_id or 0)
        return Credential(actor=actor, seen=seen, expires_at=token.expires_at)
    user = get_user_model().objects.get(pk=actor.user_id or 0)
    return Credential(actor=actor, seen=seen, password_mark=user.get_session_auth_hash())


def ended(credentials: Iterable[Credential]) -> dict[Credential, Closing]:
    """Return the credentials that ended or changed, each with how to close its stream."""
    credentials = set(credentials)
    found: dict[Credential, Closing] = {}
    now, revisions = timezone.now(), access_revisions()
    sessions = _living_sessions({c.session_key for c in credentials if c.session_key})
    for credential in credentials:
        if credential.session_key and credential.session_key not in sessions:
            found[credential] = Closing(SIGNED_OUT, "signed out")
        elif credential.expires_at is not None and credential.expires_at <= now:
            found[credential] = Closing(SIGNED_OUT, "the token expired")
        elif credential.seen != revisions and (closing := _changed(credential)):
            found[credential] = closing
    return found


def _living_sessions(keys: set[str]) -> set[str]:
    if not keys:
        return set()
    living = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    return set(living.values_list("session_key", flat=True))


def _changed(credential: Credential) -> Closing | None:
    if credential.actor.token_id is not None:
        return _token_changed(credential.actor)
    user = get_user_model().objects.filter(pk=credential.actor.user_id or 0, is_active=True).first()
    if user is None:
        return Closing(SIGNED_OUT, "the account is switched off")
    if user.get_session_auth_hash() != credential.password_mark:
        return Closing(SIGNED_OUT, "the password changed")
    if not _same_rights(actor_for_user(user), credential.actor):
        return Closing(RIGHTS_CHANGED, "rights changed")
    return None


def _token_changed(actor: Actor) -> Closing | None:
    token = ApiToken.objects.select_related("owner").filter(pk=actor.token_id or 0).first()
    if token is None or token.revoked_at is not None:
        return Closing(SIGNED_OUT, "the token was revoked")
    if not token.owner.is_active:
        return Closing(SIGNED_OUT, "the account is switched off")
    if not _same_rights(actor_for_token(token), actor):
        return Closing(RIGHTS_CHANGED, "rights changed")
    return None


def _same_rights(now: Actor, before: Actor) -> bool:
    return (now.scopes, now.roles, now.agent, now.tools) == (
        before.scopes,
        before.roles,
        before.agent,
        before.tools,
    )


def session_cookie(cookies: dict[str, str]) -> str | None:
    """Return the session key among a request's cookies."""
    return cookies.get(settings.SESSION_COOKIE_NAME)
