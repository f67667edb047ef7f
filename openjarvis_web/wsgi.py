"""The WSGI application: every ordinary page and REST call."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openjarvis_web.settings")

application = get_wsgi_application()
