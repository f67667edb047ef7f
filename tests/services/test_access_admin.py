"""Django's admin shows every table of ours and changes none."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib import admin
from django.urls import reverse

from tests.builders import make_run, make_token, make_user
from tools_app.models import ToolRun

pytestmark = pytest.mark.django_db

MODELS = list(apps.get_app_config("tools_app").get_models())


@pytest.fixture
def root(client):
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    return client


def test_every_table_has_a_page() -> None:
    assert [model for model in MODELS if model not in admin.site._registry] == []


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_lists_open_and_nothing_can_be_added(root, model) -> None:
    name = f"admin:tools_app_{model._meta.model_name}"
    assert root.get(reverse(f"{name}_changelist")).status_code == 200
    assert root.get(reverse(f"{name}_add")).status_code == 403


def test_history_can_be_read_but_not_changed_or_deleted(root) -> None:
    run = make_run()
    address = reverse("admin:tools_app_toolrun_change", args=[run.pk])
    assert root.get(address).status_code == 200
    assert root.post(address, {"status": "failed"}).status_code == 403
    address = reverse("admin:tools_app_toolrun_delete", args=[run.pk])
    assert root.post(address, {"post": "yes"}).status_code == 403
    assert ToolRun.objects.get(pk=run.pk).status == "succeeded"


def test_the_digest_of_a_token_is_not_shown(root) -> None:
    token = make_token().token
    page = root.get(reverse("admin:tools_app_apitoken_change", args=[token.pk])).content.decode()
    assert token.key_id in page
    assert token.digest not in page


def test_the_admin_is_closed_to_people_without_staff(client) -> None:
    client.force_login(make_user("anna", "admin"))
    assert client.get(reverse("admin:tools_app_toolrun_changelist")).status_code == 302
