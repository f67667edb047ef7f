"""Changes of people that other code makes (Django's admin, sign-in) and the product must notice.

Each of them renews the stamp ``access``, so that the next request sees the new rights and open
streams close, and is an event. ``QuerySet.update`` sends no signal: change people by ``save()``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save

from tools_app.services.access import session_mark
from tools_app.services.configuration import bump
from tools_app.services.events import record_event

_WATCHED = {"is_active": "active", "is_superuser": "roles", "username": "name"}
_BEFORE = "_openjarvis_before"


def connect() -> None:
    """Listen; called once when the app is ready."""
    user = get_user_model()
    for signal, receiver, sender in (
        (pre_save, _remember, user),
        (post_save, _compare, user),
        (post_delete, _user_deleted, user),
        (m2m_changed, _groups_changed, user.groups.through),
        (post_save, _group_changed, Group),
        (pre_delete, _group_changed, Group),
        (user_logged_in, _signed_in, None),
        (user_logged_out, _signed_out, None),
    ):
        signal.connect(receiver, sender=sender, dispatch_uid=f"tools_app.{receiver.__name__}")


def _remember(instance: Any, update_fields: Iterable[str] | None, **_: Any) -> None:
    """Note the values of before, unless this save cannot change them."""
    untouched = update_fields is not None and not set(update_fields) & {*_WATCHED, "password"}
    before = None
    if not untouched and instance.pk is not None:
        rows = type(instance)._default_manager.filter(pk=instance.pk)
        before = rows.values(*_WATCHED).first()
    setattr(instance, _BEFORE, before)


def _compare(instance: Any, created: bool, **_: Any) -> None:
    before = getattr(instance, _BEFORE, None)
    if created:
        bump("access")
    if created or before is None:
        return
    what = [word for field, word in _WATCHED.items() if getattr(instance, field) != before[field]]
    # Set by set_password() until save() returns; a mere re-hash at sign-in leaves it empty.
    if getattr(instance, "_password", None) is not None:
        what.append("password")
    if what:
        _changed(instance.pk, instance.get_username(), what)


def _user_deleted(instance: Any, **_: Any) -> None:
    _changed(instance.pk, instance.get_username(), ["deleted"])


def _groups_changed(
    instance: Any, action: str, reverse: bool, pk_set: set[int] | None, **_: Any
) -> None:
    """Rights follow groups, whichever side they were changed from."""
    if action not in ("post_add", "post_remove", "pre_clear", "post_clear"):
        return
    users = get_user_model()._default_manager
    if not reverse:
        people = [instance]
    elif action == "pre_clear":  # afterwards nobody knows who was in the group
        people = list(instance.user_set.all())
    else:
        people = list(users.filter(pk__in=pk_set or ()))
    bump("access")
    if action == "post_clear" and reverse:
        return
    if action == "pre_clear" and not reverse:
        return
    for person in people:
        _changed(person.pk, person.get_username(), ["roles"])


def _group_changed(instance: Group, **_: Any) -> None:
    bump("access")


def _signed_in(request: Any, user: Any, **_: Any) -> None:
    record_event("user.signed_in", actor=f"user:{user.get_username()}", data={"user": user.pk})


def _signed_out(request: Any, user: Any, **_: Any) -> None:
    if user is None:
        return
    key = getattr(getattr(request, "session", None), "session_key", None)
    data = {"user": user.pk, "session": session_mark(key) if key else None}
    record_event("session.ended", actor=f"user:{user.get_username()}", data=data)


def _changed(pk: int, username: str, what: list[str]) -> None:
    bump("access")
    record_event("access.changed", data={"user": pk, "username": username, "what": what})
