"""Addresses: REST under ``/api/``, the operators' pages at the root, the back office."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
]
if find_spec("tools_app.api.urls"):
    urlpatterns.append(path("api/v1/", include("tools_app.api.urls")))
if find_spec("tools_app.console.urls"):
    urlpatterns.append(path("", include("tools_app.console.urls")))
