"""Settings of OpenJarvis Web, read top to bottom; ``docs/settings.md`` explains each.

With an empty environment the product runs on one machine with no server beside it: a SQLite
file, a queue in a folder, live events inside the process. ``DATABASE_URL`` and ``REDIS_URL``
change where those are; no other code asks which is in use.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from csp.constants import NONCE, NONE, SELF
from django.utils.translation import gettext_lazy as _

from openjarvis_web.databases import database_settings
from openjarvis_web.environment import (
    BadSetting,
    Environment,
    kept_secret_key,
    prepare_data_folder,
)
from openjarvis_web.logs import LOG_LEVELS, configure_logs

env = Environment()
BASE_DIR = Path(__file__).resolve().parent.parent

# --- where we run ---------------------------------------------------------------------------

DEBUG = env.flag("OPENJARVIS_DEBUG")
OPENJARVIS_HOST = env.text("OPENJARVIS_HOST", "127.0.0.1")
OPENJARVIS_PORT = env.whole("OPENJARVIS_PORT", 18789, at_least=1, at_most=65535)
OPENJARVIS_DATA_DIR = prepare_data_folder(env.folder("OPENJARVIS_DATA_DIR", Path("data")))
OPENJARVIS_WEB_THREADS = env.whole("OPENJARVIS_WEB_THREADS", 48, at_least=1, at_most=512)
OPENJARVIS_WORKERS = env.whole("OPENJARVIS_WORKERS", 2, at_least=1, at_most=256)
OPENJARVIS_MAX_BODY_BYTES = env.whole(
    "OPENJARVIS_MAX_BODY_BYTES", 4 * 1024 * 1024, at_least=1024, at_most=1024**3
)

# --- who may come in ------------------------------------------------------------------------

SECRET_KEY = env.secret("OPENJARVIS_SECRET_KEY") or kept_secret_key(
    OPENJARVIS_DATA_DIR / "secret_key"
)
if len(SECRET_KEY) < 32:
    raise BadSetting("OPENJARVIS_SECRET_KEY", "must have at least 32 characters")
SECRET_KEY_FALLBACKS = [
    key.strip() for key in env.secret("OPENJARVIS_OLD_SECRET_KEYS").split(",") if key.strip()
]
OPENJARVIS_ADMIN_USERNAME = env.text("OPENJARVIS_ADMIN_USERNAME", "admin")
OPENJARVIS_ADMIN_PASSWORD = env.secret("OPENJARVIS_ADMIN_PASSWORD")
OPENJARVIS_ALLOW_SELF_APPROVAL = env.flag("OPENJARVIS_ALLOW_SELF_APPROVAL")
OPENJARVIS_BEHIND_TLS = env.flag("OPENJARVIS_BEHIND_TLS")
OPENJARVIS_TRUSTED_PROXIES = env.names("OPENJARVIS_TRUSTED_PROXIES")

ALLOWED_HOSTS = list(
    env.names("OPENJARVIS_ALLOWED_HOSTS", ("127.0.0.1", "localhost", "[::1]", OPENJARVIS_HOST))
)
CSRF_TRUSTED_ORIGINS = list(env.names("OPENJARVIS_TRUSTED_ORIGINS"))
for origin in CSRF_TRUSTED_ORIGINS:
    if not origin.startswith(("http://", "https://")):
        raise BadSetting("OPENJARVIS_TRUSTED_ORIGINS", f"{origin!r} must start with https://")

# --- tools ----------------------------------------------------------------------------------

OPENJARVIS_TOOL_MODULES = env.names("OPENJARVIS_TOOL_MODULES")
OPENJARVIS_FILE_ROOTS = env.folders("OPENJARVIS_FILE_ROOTS", (OPENJARVIS_DATA_DIR / "workspace",))
OPENJARVIS_HTTP_ALLOWED_HOSTS = env.names("OPENJARVIS_HTTP_ALLOWED_HOSTS")
OPENJARVIS_TABLE_SET = env.choice(
    "OPENJARVIS_TABLE_SET", "default", ("default", "2026.2.22", "2026.2.26")
)
OPENJARVIS_NUMBERS_AS_FLOATS = env.flag("OPENJARVIS_NUMBERS_AS_FLOATS")
OPENJARVIS_CHROMIUM_PATH = env.text("OPENJARVIS_CHROMIUM_PATH", "/usr/bin/chromium")
OPENJARVIS_ALLOW_SELF_APPROVAL = env.flag("OPENJARVIS_ALLOW_SELF_APPROVAL")
OPENJARVIS_RUN_RETENTION_DAYS = env.whole(
    "OPENJARVIS_RUN_RETENTION_DAYS", 90, at_least=1, at_most=36500
)

# --- the program ----------------------------------------------------------------------------

INSTALLED_APPS = [
    "openjarvis_web.apps.WebConfig",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "channels",
    "rest_framework",
    "django_filters",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_structlog",
    "csp",
    "django_celery_beat",
    "tools_app.apps.ToolsConfig",
    "scheduler_app.apps.SchedulerConfig",
    "nodes_app.apps.NodesConfig",
]

MIDDLEWARE = [
    "openjarvis_web.middleware.SecretsInUrl",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "openjarvis_web.middleware.RestErrors",
]

# A REST call with a token has no cookie, session or page; see openjarvis_web/wsgi.py.
BEARER_MIDDLEWARE = [
    "openjarvis_web.middleware.SecretsInUrl",
    "django.middleware.security.SecurityMiddleware",
    "openjarvis_web.middleware.RestErrors",
]

ROOT_URLCONF = "openjarvis_web.urls"
WSGI_APPLICATION = "openjarvis_web.wsgi.application"
ASGI_APPLICATION = "openjarvis_web.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
            "libraries": {"console": "tools_app.console.templatetags.console"},
        },
    },
]

# --- database, queue, live events -----------------------------------------------------------

REDIS_URL = env.url("REDIS_URL", "", ("redis", "rediss", "unix"))
DATABASES = {
    "default": database_settings(
        env.secret("DATABASE_URL"), OPENJARVIS_DATA_DIR / "openjarvis.sqlite3"
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CELERY_BROKER_URL = env.url(
    "CELERY_BROKER_URL",
    REDIS_URL or "filesystem://",
    ("filesystem", "redis", "rediss", "amqp", "amqps", "memory"),
)
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {
        "data_folder_in": str(OPENJARVIS_DATA_DIR / "queue"),
        "data_folder_out": str(OPENJARVIS_DATA_DIR / "queue"),
        "control_folder": str(OPENJARVIS_DATA_DIR / "queue" / "control"),
        "polling_interval": 0.05,
    }
    if CELERY_BROKER_URL.startswith("filesystem")
    else {}
)
CELERY_TASK_DEFAULT_QUEUE = "celery"
HOUSEKEEPING_QUEUE = "housekeeping"
HOUSEKEEPING_SECONDS = 2
CELERY_TASK_ROUTES = {"tools_app.housekeeping": {"queue": HOUSEKEEPING_QUEUE}}
CELERY_BEAT_SCHEDULE = {
    "housekeeping": {
        "task": "tools_app.housekeeping",
        "schedule": timedelta(seconds=HOUSEKEEPING_SECONDS),
        "options": {"expires": 5 * HOUSEKEEPING_SECONDS},  # a late tick is no use twice
    }
}
CELERY_TASK_IGNORE_RESULT = True  # the row of a run is its result
CELERY_RESULT_EXPIRES = None
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_WORKER_CONCURRENCY = OPENJARVIS_WORKERS
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
DJANGO_CELERY_BEAT_TZ_AWARE = True

if REDIS_URL:
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [REDIS_URL]},
        }
    }
    CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    }
else:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

# --- signing in, cookies, headers -----------------------------------------------------------

LOGIN_URL = "console:sign-in"
LOGIN_REDIRECT_URL = "console:overview"
CSRF_FAILURE_VIEW = "openjarvis_web.error_pages.csrf_failure"
LOGOUT_REDIRECT_URL = "console:sign-in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
PASSWORD_RESET_TIMEOUT = 15 * 60  # seconds; also the life of a one-time sign-in link

SESSION_COOKIE_NAME = "openjarvis_session"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = OPENJARVIS_BEHIND_TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if OPENJARVIS_BEHIND_TLS else None
SECURE_SSL_REDIRECT = OPENJARVIS_BEHIND_TLS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]  # probes come from inside, without TLS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if OPENJARVIS_BEHIND_TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = OPENJARVIS_BEHIND_TLS
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = OPENJARVIS_MAX_BODY_BYTES

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "frame-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "object-src": [NONE],
        "frame-ancestors": [NONE],
    }
}

# --- REST -----------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "tools_app.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "openjarvis_web.problems.problem_handler",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "OpenJarvis Web",
    "DESCRIPTION": "Run tools under policy, decide who may, and read the log of what happened.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "ENUM_NAME_OVERRIDES": {
        "RunStatus": "tools_app.models.RunStatus",
        "ApprovalStatus": "tools_app.models.ApprovalStatus",
        "GrantScope": "tools_app.models.GrantScope",
        "FreezeScope": "tools_app.models.FreezeScope",
        "LimitScope": "tools_app.models.LimitScope",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# --- languages, files -----------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("th", _("Thai"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = OPENJARVIS_DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True  # no collectstatic step before the first page
WHITENOISE_AUTOREFRESH = DEBUG

# --- logs -----------------------------------------------------------------------------------

OPENJARVIS_LOG_LEVEL = env.choice("OPENJARVIS_LOG_LEVEL", "INFO", LOG_LEVELS)
OPENJARVIS_LOG_FORMAT = env.choice("OPENJARVIS_LOG_FORMAT", "text", ("text", "json"))
LOGGING = configure_logs(level=OPENJARVIS_LOG_LEVEL, as_json=OPENJARVIS_LOG_FORMAT == "json")
