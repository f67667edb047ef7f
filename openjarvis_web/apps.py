"""The project as a Django app: it brings the commands and the checks at start."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "openjarvis_web"
    label = "openjarvis_web"

    def ready(self) -> None:
        from openjarvis_web import checks  # noqa: F401  (registers itself)
