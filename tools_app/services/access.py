"""Who is calling and what they may do: roles of people, scopes of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.utils.crypto import salted_hmac

from tools_app.models import ApiToken
from tools_app.services.configuration import CachedByKey
from tools_app.services.errors import Forbidden, TokenScope

SCOPES = (
    "tools:read",
    "tools:execute",
    "policy:read",
    "policy:write",
    "approvals",
    "agents",
    "schedules",
    "nodes",
    "audit",
    "admin",
)
ADMIN = "admin"  # both the scope that implies all others and the role that has it

_VIEWER = frozenset({"tools:read", "policy:read"})
ROLES: Mapping[str, frozenset[str]] = {
    "viewer": _VIEWER,
    "operator": _VIEWER | {"tools:execute", "approvals", "agents"},
    "admin": frozenset(SCOPES),
    "auditor": _VIEWER | {"audit"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """An authenticated caller, as every service sees it.

    ``roles`` are those of the user, or of the token's owner. ``agent`` is the agent a token is
    bound to, or empty; ``tools`` the only tools it may use, or ``None`` for no such limit.
    """

    label: str
    user_id: int | None
    token_id: int | None = None
    token_key: str = ""
    scopes: frozenset[str]
    roles: frozenset[str] = frozenset()
    agent: str = ""
    tools: frozenset[str] | None = None
    surface: str = "rest"

    def has(self, scope: str) -> bool:
        """Whether the caller has ``scope``; ``admin`` implies all."""
        return scope in self.scopes or ADMIN in self.scopes

    def has_any(self, *scopes: str) -> bool:
        """Whether the caller has at least one of ``scopes``."""
        return any(self.has(scope) for scope in scopes)

    def require(self, scope: str) -> None:
        """Raise TokenScope (a token) or Forbidden (a user) when ``scope`` is missing."""
        if not self.has(scope):
            raise self.refusal(scope)

    def require_any(self, *scopes: str) -> None:
        """Raise as :meth:`require` when none of ``scopes`` is there."""
        if not self.has_any(*scopes):
            raise self.refusal(" or ".join(scopes))

    def refusal(self, scope: str) -> Forbidden | TokenScope:
        """Return the error that says this caller lacks ``scope``."""
        if self.token_id is not None:
            return TokenScope(f"This token lacks the scope {scope}.")
        return Forbidden(f"Your roles do not include the right {scope}.")


SYSTEM = Actor(
    label="system",
    user_id=None,
    scopes=frozenset({ADMIN}),
    roles=frozenset({ADMIN}),
    surface="system",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What a user may do at present; an inactive or deleted user has no roles and no scopes."""

    label: str
    is_active: bool
    roles: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()


def rights_of(user_id: int) -> Rights:
    """Return the rights of a user, from their groups; superusers have the role ``admin``."""
    return _rights.get(user_id)


def actor_for_user(user: Any, *, surface: str = "console") -> Actor:
    """Return the signed-in user as a caller; one who was deactivated has no scopes."""
    rights = rights_of(user.pk)
    return Actor(
        label=rights.label,
        user_id=user.pk,
        scopes=rights.scopes,
        roles=rights.roles,
        surface=surface,
    )


def actor_for_token(token: ApiToken, *, surface: str = "rest") -> Actor:
    """Return a token as a caller: never more than its owner may do at this moment."""
    rights = rights_of(token.owner_id)
    granted = frozenset(token.scopes)
    scopes = rights.scopes if ADMIN in granted else granted & rights.scopes
    return Actor(
        label=f"token:{token.key_id} ({token.name})",
        user_id=token.owner_id,
        token_id=token.pk,
        token_key=token.key_id,
        scopes=scopes,
        roles=rights.roles,
        agent=token.agent,
        tools=None if token.tools is None else frozenset(token.tools),
        surface=surface,
    )


def session_mark(session_key: str) -> str:
    """Return what an event may say about a session: not the key, which would open it."""
    return salted_hmac("tools_app.session", session_key, algorithm="sha256").hexdigest()[:16]


def people_with(scope: str) -> frozenset[int]:
    """Return the ids of the active users whose roles include ``scope``."""
    ids = get_user_model()._default_manager.filter(is_active=True).values_list("pk", flat=True)
    return frozenset(pk for pk in ids if scope in rights_of(pk).scopes)


def _load_rights(user_id: int) -> Rights:
    user = get_user_model()._default_manager.filter(pk=user_id).first()
    if user is None:
        return Rights(label=f"user:#{user_id}", is_active=False)
    label = f"user:{user.get_username()}"
    if not user.is_active:
        return Rights(label=label, is_active=False)
    names = user.groups.values_list("name", flat=True)
    roles = frozenset(name for name in names if name in ROLES)
    if user.is_superuser:
        roles |= {ADMIN}
    scopes = frozenset(scope for role in roles for scope in ROLES[role])
    return Rights(label=label, is_active=True, roles=roles, scopes=scopes)


_rights: CachedByKey[int, Rights] = CachedByKey("access", load=_load_rights)
