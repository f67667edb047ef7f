"""Settings of the tests: the product's own, with a data folder that is thrown away."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

if "OPENJARVIS_TEST_DATA_DIR" not in os.environ:  # the first process; its children share the folder
    folder = tempfile.mkdtemp(prefix="openjarvis-test-")
    os.environ["OPENJARVIS_TEST_DATA_DIR"] = folder
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
os.environ["OPENJARVIS_DATA_DIR"] = os.environ["OPENJARVIS_TEST_DATA_DIR"]
os.environ["DATABASE_URL"] = os.environ.get("OPENJARVIS_TEST_DATABASE_URL", "")
os.environ["REDIS_URL"] = os.environ.get("OPENJARVIS_TEST_REDIS_URL", "")

from openjarvis_web.settings import *  # noqa: F403
from openjarvis_web.settings import DATABASES, OPENJARVIS_DATA_DIR

if "sqlite" in DATABASES["default"]["ENGINE"]:  # a file, so that several threads see it
    DATABASES["default"]["TEST"] = {"NAME": str(Path(OPENJARVIS_DATA_DIR) / "test.sqlite3")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # quick; never in the product
