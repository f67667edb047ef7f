"""Addresses at the root, for what watches this installation."""

from django.urls import path

from tools_app.api import system

urlpatterns = [
    path("healthz", system.Healthz.as_view(), name="healthz"),
    path("readyz", system.Readyz.as_view(), name="readyz"),
    path("metrics", system.Metrics.as_view(), name="metrics"),
]
