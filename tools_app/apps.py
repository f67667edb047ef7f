"""The tools app: tool catalogue, policy, runs, approvals, events, tokens."""

from django.apps import AppConfig


class ToolsConfig(AppConfig):
    """Registers the built-in tools and the system checks."""

    name = "tools_app"
    label = "tools_app"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Tools"
