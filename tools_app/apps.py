"""The tools app: tool catalogue, policy, runs, approvals, events, tokens."""

from django.apps import AppConfig


class ToolsConfig(AppConfig):
    """Watches for changes of people; tools themselves are built when first needed."""

    name = "tools_app"
    label = "tools_app"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Tools"

    def ready(self) -> None:
        """Connect the signals."""
        from tools_app import signals

        signals.connect()
