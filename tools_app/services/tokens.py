"""API tokens and one-time WebSocket tickets. Secrets are shown once and stored as digests.

A token reads ``ojw_<key id>_<secret>``: the key id is public and finds the row, the secret is
256 random bits of which the row holds an HMAC-SHA256 under the server's key, so that a copy of
the database opens nothing and needs no slow hash.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from tools_app.models import AgentProfile, ApiToken, WsTicket
from tools_app.services.access import (
    ADMIN,
    SCOPES,
    Actor,
    actor_for_token,
    actor_for_user,
    rights_of,
)
from tools_app.services.configuration import CachedByKey, bump
from tools_app.services.errors import (
    Forbidden,
    InvalidRequest,
    InvalidToken,
    NotFound,
    TokenScope,
    UnknownAgent,
)
from tools_app.services.events import record_event

log = structlog.get_logger(__name__)

PREFIX = "ojw"
TICKET_LIFE = timedelta(seconds=30)
USE_NOTED_EVERY_S = 60.0
MAX_NAME = 120
MAX_TOOLS = 1000

_REFUSED = "The token is unknown, revoked or expired."
_TICKET_REFUSED = "The ticket is unknown, used or expired."


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token at the only moment its text is known."""

    token: ApiToken
    secret_text: str = field(repr=False)


@transaction.atomic
def create_token(
    *,
    actor: Actor,
    owner: Any,
    name: str,
    scopes: Collection[str],
    agent: str = "",
    tools: Collection[str] | None = None,
    expires_at: datetime | None = None,
) -> NewToken:
    """Create a token for ``owner`` and return it with its text; event ``token.created``.

    A token never has more than its owner, nor more than the actor who makes it: a token that
    is bound to an agent or to some tools can only make tokens bound alike. Raises Forbidden or
    TokenScope for that, UnknownAgent, and InvalidRequest with the fields that are wrong.
    """
    _check_fields(name, scopes, tools, expires_at)
    _check_not_wider(actor, owner, frozenset(scopes), agent, tools, expires_at)
    if agent and not AgentProfile.objects.filter(slug=agent).exists():
        raise UnknownAgent(f"There is no agent {agent!r}.")
    secret = secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        key_id=secrets.token_hex(6),
        digest=_digest("token", secret),
        name=name.strip(),
        owner=owner,
        scopes=[scope for scope in SCOPES if scope in scopes],
        agent=agent,
        tools=None if tools is None else sorted(set(tools)),
        expires_at=expires_at,
    )
    bump("tokens")
    record_event(
        "token.created",
        agent=agent,
        actor=actor.label,
        data={
            "token": token.key_id,
            "name": token.name,
            "owner": owner.get_username(),
            "scopes": token.scopes,
            "tools": token.tools,
            "expires_at": expires_at and expires_at.isoformat(),
        },
    )
    return NewToken(token=token, secret_text=f"{PREFIX}_{token.key_id}_{secret}")


@transaction.atomic
def revoke_token(*, actor: Actor, token_id: int) -> ApiToken:
    """End a token for good; event ``token.revoked``. Revoking again changes nothing.

    Owners revoke their own, admins every one; others get NotFound.
    """
    tokens = ApiToken.objects.select_for_update().filter(pk=token_id)
    token = tokens.filter(_seen_by(actor)).first()
    if token is None:
        raise NotFound("There is no such token.")
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        bump("tokens")
        data = {"token": token.key_id, "name": token.name}
        record_event("token.revoked", agent=token.agent, actor=actor.label, data=data)
    return token


def authenticate_token(text: str) -> ApiToken:
    """Return the live token that ``text`` is; raises InvalidToken, never saying what is wrong.

    The row comes from memory while no token and no right changed.
    """
    key_id, secret = _split(text)
    token = _tokens.get(key_id)
    if not _is_digest_of(token.digest, "token", secret):
        raise InvalidToken(_REFUSED)
    if token.revoked_at is not None or not _is_before(timezone.now(), token.expires_at):
        raise InvalidToken(_REFUSED)
    if not rights_of(token.owner_id).is_active:
        raise InvalidToken(_REFUSED)
    _note_use(token)
    return token


def create_ws_ticket(*, actor: Actor) -> str:
    """Return a text that opens one WebSocket once, within 30 seconds, as ``actor``."""
    if actor.user_id is None:
        raise Forbidden("Only a user or a token can have a ticket.")
    text = secrets.token_urlsafe(32)
    WsTicket.objects.create(
        digest=_digest("ticket", text),
        user_id=actor.user_id,
        token_id=actor.token_id,
        expires_at=timezone.now() + TICKET_LIFE,
    )
    return text


def redeem_ws_ticket(text: str) -> Actor:
    """Use up a ticket and return whom it stands for, with their rights of now.

    Raises InvalidToken when it is unknown, used or expired, or its owner or token is no more.
    """
    now = timezone.now()
    ticket = WsTicket.objects.select_related("user", "token").filter(
        digest=_digest("ticket", text), expires_at__gt=now
    )
    # The condition is in the UPDATE: of two sockets that come at once one gets a row.
    if not ticket.filter(used_at=None).update(used_at=now):
        raise InvalidToken(_TICKET_REFUSED)
    found = ticket.get()
    if not rights_of(found.user_id).is_active:
        raise InvalidToken(_TICKET_REFUSED)
    if found.token is None:
        return actor_for_user(found.user)
    if found.token.revoked_at is not None or not _is_before(now, found.token.expires_at):
        raise InvalidToken(_TICKET_REFUSED)
    return actor_for_token(found.token)


def list_tokens(*, actor: Actor) -> list[ApiToken]:
    """Return the tokens the actor may see: their own, for an admin everybody's; newest first."""
    return list(visible_tokens(actor=actor))


def visible_tokens(*, actor: Actor) -> QuerySet[ApiToken]:
    """Return the same as a query, for lists by page."""
    return ApiToken.objects.select_related("owner").filter(_seen_by(actor)).order_by("-id")


def _seen_by(actor: Actor) -> Q:
    if actor.has(ADMIN):
        return Q()
    if actor.token_id is not None:
        return Q(pk=actor.token_id)
    return Q(owner_id=actor.user_id)


# --- checks of a new token -------------------------------------------------------------------


def _check_fields(
    name: str,
    scopes: Collection[str],
    tools: Collection[str] | None,
    expires_at: datetime | None,
) -> None:
    errors = list(_field_errors(name, scopes, tools, expires_at))
    if errors:
        raise InvalidRequest("The token cannot be made like this.", extra={"errors": errors})


def _field_errors(
    name: str,
    scopes: Collection[str],
    tools: Collection[str] | None,
    expires_at: datetime | None,
) -> Iterator[dict[str, str]]:
    if not 1 <= len(name.strip()) <= MAX_NAME:
        yield {"path": "$.name", "message": f"Give a name of 1 to {MAX_NAME} characters."}
    if not scopes:
        yield {"path": "$.scopes", "message": "Choose at least one scope."}
    for scope in sorted(set(scopes) - set(SCOPES)):
        known = ", ".join(SCOPES)
        yield {"path": "$.scopes", "message": f"Unknown scope {scope!r}; there are: {known}."}
    if tools is not None and not 1 <= len(set(tools)) <= MAX_TOOLS:
        message = f"Name 1 to {MAX_TOOLS} tools, or leave it out for all."
        yield {"path": "$.tools", "message": message}
    if expires_at is not None and timezone.is_naive(expires_at):
        yield {"path": "$.expires_at", "message": "Give the time with its zone."}
    elif not _is_before(timezone.now(), expires_at):
        yield {"path": "$.expires_at", "message": "This time has passed."}


def _check_not_wider(
    actor: Actor,
    owner: Any,
    scopes: frozenset[str],
    agent: str,
    tools: Collection[str] | None,
    expires_at: datetime | None,
) -> None:
    if owner.pk != actor.user_id and not actor.has(ADMIN):
        raise Forbidden("Only an admin can make a token for somebody else.")
    for scope in sorted(scopes):
        actor.require(scope)
        if scope not in rights_of(owner.pk).scopes:
            raise Forbidden(f"The owner does not have the right {scope}.")
    if actor.agent and agent != actor.agent:
        raise TokenScope(f"This token acts for the agent {actor.agent} only.")
    if actor.tools is not None and (tools is None or not actor.tools.issuperset(tools)):
        raise TokenScope("This token may use certain tools only, and give no more.")
    if actor.token_id is not None:
        own_end = ApiToken.objects.values_list("expires_at", flat=True).get(pk=actor.token_id)
        if own_end is not None and (expires_at is None or expires_at > own_end):
            raise TokenScope("A token cannot make one that outlives it.")


# --- secrets ---------------------------------------------------------------------------------


def _split(text: str) -> tuple[str, str]:
    prefix, _, rest = text.partition("_")
    key_id, _, secret = rest.partition("_")
    if prefix != PREFIX or not key_id.isalnum() or len(key_id) > 16 or not secret:
        raise InvalidToken(_REFUSED)
    return key_id, secret


def _digest(purpose: str, secret: str, key: str | None = None) -> str:
    """Return what Django's ``salted_hmac`` would, with the derived key kept."""
    derived = _derived_key(purpose, settings.SECRET_KEY if key is None else key)
    return hmac.digest(derived, secret.encode("utf-8", "replace"), "sha256").hex()


@lru_cache(maxsize=16)
def _derived_key(purpose: str, key: str) -> bytes:
    return hashlib.sha256(f"tools_app.{purpose}{key}".encode()).digest()


def _is_digest_of(digest: str, purpose: str, secret: str) -> bool:
    """Compare in constant time; keys that were rotated out still open what they made."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return any(hmac.compare_digest(digest, _digest(purpose, secret, key)) for key in keys)


def _is_before(moment: datetime, end: datetime | None) -> bool:
    return end is None or moment < end


def _load_token(key_id: str) -> ApiToken:
    token = ApiToken.objects.select_related("owner").filter(key_id=key_id).first()
    if token is None:
        raise InvalidToken(_REFUSED)
    return token


_tokens: CachedByKey[str, ApiToken] = CachedByKey("tokens", "access", load=_load_token)


# --- last use --------------------------------------------------------------------------------

_noted: dict[str, float] = {}
_noting = threading.Lock()


def _note_use(token: ApiToken) -> None:
    """Store the time of use, at most once a minute per token and process."""
    now = time.monotonic()
    with _noting:
        if now - _noted.get(token.key_id, -USE_NOTED_EVERY_S) < USE_NOTED_EVERY_S:
            return
        _noted[token.key_id] = now
    moment = timezone.now()
    stale = Q(last_used_at=None) | Q(last_used_at__lt=moment - timedelta(seconds=USE_NOTED_EVERY_S))
    try:
        with transaction.atomic():
            ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=moment)
    except DatabaseError:  # a full disk must not lock the readers out
        log.warning("the last use of a token could not be stored", exc_info=True)
