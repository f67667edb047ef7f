"""Which rules of ``channels`` apply to a group chat and to the person who writes there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tools_app.policy.edits import Path
from tools_app.policy.scopes import Scope, as_mapping, dig
from tools_app.policy.subjects import Subject

_ANY = "*"
_CHANNEL_DEPTH = 3  # account, guild, channel of the guild
_CHAT_SECTIONS = ("groups", "channels", "guilds")
_SENDER_KINDS = ("id", "e164", "username", "name")

Place = tuple[Path, Mapping[str, object]]


def chat_scope(document: Mapping[str, object], subject: Subject) -> Scope | None:
    """Find the one rule object for the subject's group chat; hits are never merged.

    A specific chat comes before ``*``; in each, rules for the sender come before rules for all.
    """
    chat = subject.chat_group()
    if chat is None:
        return None
    for path, place in _places(document, subject, *chat):
        by_sender = as_mapping(place.get("toolsBySender"))
        key = _sender_key(by_sender, subject)
        if key is not None:
            return _scope((*path, "toolsBySender", key), dig(by_sender, key))
        if isinstance(place.get("tools"), Mapping):
            return _scope((*path, "tools"), dig(place, "tools"))
    return None


def chat_scopes(document: Mapping[str, object]) -> Iterator[Scope]:
    """Yield every scope under ``channels``, whoever it applies to."""
    for name, channel in dig(document, "channels").items():
        yield from _scopes_below(("channels", name), as_mapping(channel), _CHANNEL_DEPTH)


def _scopes_below(path: Path, node: Mapping[str, object], depth: int) -> Iterator[Scope]:
    """Walk accounts and chats, ``depth`` levels of named objects down."""
    if depth < 0:
        return
    if isinstance(node.get("tools"), Mapping):
        yield _scope((*path, "tools"), dig(node, "tools"))
    for sender, rules in dig(node, "toolsBySender").items():
        yield _scope((*path, "toolsBySender", sender), as_mapping(rules))
    for section in ("accounts", *_CHAT_SECTIONS):
        for name, inner in dig(node, section).items():
            yield from _scopes_below((*path, section, name), as_mapping(inner), depth - 1)


def _scope(path: Path, raw: Mapping[str, object]) -> Scope:
    title = ".".join(str(part) for part in path if part not in ("groups", "tools"))
    return Scope(name="group", path=path, title=title, raw=raw)


def _places(
    document: Mapping[str, object], subject: Subject, channel: str, group: str
) -> Iterator[Place]:
    """Yield the objects that may carry rules for this chat, most specific first."""
    chats_key = {"discord": "guilds", "slack": "channels"}.get(channel, "groups")
    path, chats = _chats(document, subject, channel, chats_key)
    if channel != "discord":
        yield from _exact_then_any(path, chats, group)
        return
    for guild_path, guild in _exact_then_any(path, chats, subject.group_space or _ANY):
        yield from _exact_then_any((*guild_path, "channels"), dig(guild, "channels"), group)
        yield guild_path, guild


def _chats(
    document: Mapping[str, object], subject: Subject, channel: str, key: str
) -> tuple[Path, Mapping[str, object]]:
    base = dig(document, "channels", channel)
    account_id = (subject.account_id or "").strip()
    account = dig(base, "accounts", account_id)
    if account_id and isinstance(account.get(key), Mapping):
        return ("channels", channel, "accounts", account_id, key), dig(account, key)
    return ("channels", channel, key), dig(base, key)


def _exact_then_any(path: Path, chats: Mapping[str, object], wanted: str) -> Iterator[Place]:
    folded = wanted.casefold()
    exact = wanted if wanted in chats else next((k for k in chats if k.casefold() == folded), None)
    for key in dict.fromkeys((exact, _ANY)):
        if key is not None and isinstance(chats.get(key), Mapping):
            yield (*path, key), dig(chats, key)


def _sender_key(by_sender: Mapping[str, object], subject: Subject) -> str | None:
    """Find the key for the sender: id, number, user name, display name, then anybody."""
    known: dict[tuple[str, str], str] = {}
    for key, value in by_sender.items():
        if isinstance(value, Mapping):
            known.setdefault(_typed_sender(key), key)
    sender = {
        "id": subject.sender_id,
        "e164": subject.sender_e164,
        "username": subject.sender_username,
        "name": subject.sender_name,
    }
    for kind in _SENDER_KINDS:
        found = known.get((kind, _sender_value(kind, sender[kind] or "")))
        if found is not None and sender[kind]:
            return found
    return known.get((_ANY, _ANY))


def _typed_sender(key: str) -> tuple[str, str]:
    if key.strip() == _ANY:
        return _ANY, _ANY
    kind, colon, value = key.strip().partition(":")
    if colon and kind.lower() in _SENDER_KINDS:
        return kind.lower(), _sender_value(kind.lower(), value)
    return "id", _sender_value("id", key)


def _sender_value(kind: str, value: str) -> str:
    folded = value.strip().lower()
    return folded.removeprefix("@") if kind == "username" else folded
