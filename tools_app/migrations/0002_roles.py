"""The four roles exist from the start, as Django groups."""

from __future__ import annotations

from typing import Any

from django.db import migrations

ROLES = ("viewer", "operator", "admin", "auditor")


def create_groups(apps: Any, schema_editor: Any) -> None:
    groups = apps.get_model("auth", "Group").objects.using(schema_editor.connection.alias)
    for name in ROLES:
        groups.get_or_create(name=name)


def delete_groups(apps: Any, schema_editor: Any) -> None:
    groups = apps.get_model("auth", "Group").objects.using(schema_editor.connection.alias)
    groups.filter(name__in=ROLES).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("tools_app", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [migrations.RunPython(create_groups, delete_groups)]
