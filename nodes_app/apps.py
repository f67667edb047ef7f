"""Paired devices and what they offer."""

from django.apps import AppConfig


class NodesConfig(AppConfig):
    name = "nodes_app"
    verbose_name = "Nodes"
