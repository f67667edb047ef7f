"""Addresses: REST under ``/api/``, the operators' pages at the root, the back office."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("api/v1/", include("tools_app.api.urls")),
    path("api/", include("tools_app.api.documentation")),
    path("", include("tools_app.api.probes")),
    path("admin/", admin.site.urls),
    path("", include("tools_app.console.urls")),
]

handler400 = "openjarvis_web.error_pages.bad_request"
handler403 = "openjarvis_web.error_pages.permission_denied"
handler404 = "openjarvis_web.error_pages.not_found"
handler500 = "openjarvis_web.error_pages.server_error"
