"""What a new installation needs before its first page: roles, an admin, samples, tools.

Runs at every start and makes only what is missing.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import transaction

from tools_app.models import AgentProfile, PolicyVersion
from tools_app.services.access import ADMIN, ROLES, SYSTEM, people_with
from tools_app.services.agents import create_agent
from tools_app.services.configuration import bump
from tools_app.services.policies import current_version, publish
from tools_app.services.sign_in_links import make_sign_in_link
from tools_app.services.tool_sync import sync_tools

SAMPLE_AGENTS = {
    "main": ("Main", "Works for you directly; the policy does not restrict it."),
    "coding": ("Coding", "Reads files and calculates: the profile coding."),
    "support": ("Support", "Talks to customers: the profile messaging, which has no calculator."),
}
SAMPLE_POLICY: dict[str, Any] = {
    "tools": {},
    "agents": {
        "list": [
            {"id": "main"},
            {"id": "coding", "tools": {"profile": "coding"}},
            {"id": "support", "tools": {"profile": "messaging"}},
        ]
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRun:
    """How to sign in; ``password`` and ``sign_in_path`` only when ``created`` just now.

    ``password`` is ``None`` too when the environment set it: it is known, and not to be printed.
    """

    admin_username: str
    password: str | None = field(default=None, repr=False)
    sign_in_path: str | None = field(default=None, repr=False)
    created: bool = False


@transaction.atomic
def prepare() -> FirstRun:
    """Create what is missing and bring the tools up to date; safe to call at every start."""
    for name in ROLES:
        Group.objects.get_or_create(name=name)
    sync_tools()
    if not PolicyVersion.objects.exists():
        _create_samples()
    _follow_table_set()
    return _first_admin()


def _create_samples() -> None:
    for slug, (name, description) in SAMPLE_AGENTS.items():
        if not AgentProfile.objects.filter(slug=slug).exists():
            create_agent(actor=SYSTEM, slug=slug, name=name, description=description)
    publish(actor=SYSTEM, document=SAMPLE_POLICY, base_number=0, comment="sample policy")


def _follow_table_set() -> None:
    """Publish the policy anew when the setting names other tables than it was published with."""
    version = current_version()
    if version.table_set != settings.OPENJARVIS_TABLE_SET:
        publish(
            actor=SYSTEM,
            document=version.document,
            base_number=version.number,
            comment=f"table set {settings.OPENJARVIS_TABLE_SET} by OPENJARVIS_TABLE_SET",
        )


def _first_admin() -> FirstRun:
    username = settings.OPENJARVIS_ADMIN_USERNAME
    if people_with(ADMIN):
        return FirstRun(admin_username=username)
    preset = settings.OPENJARVIS_ADMIN_PASSWORD
    password = preset or secrets.token_urlsafe(15)
    users = get_user_model()._default_manager
    admin = users.filter(username=username).first() or get_user_model()(username=username)
    admin.is_active = admin.is_staff = admin.is_superuser = True
    admin.set_password(password)
    admin.save()
    admin.groups.add(Group.objects.get(name=ADMIN))
    bump("access")
    return FirstRun(
        admin_username=username,
        password=None if preset else password,
        sign_in_path=make_sign_in_link(admin),
        created=True,
    )
