"""A new installation: roles, the first admin, samples."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User

from tests.builders import make_user
from tools_app.models import AgentProfile, PolicyVersion, Tool
from tools_app.services.access import ROLES, actor_for_user
from tools_app.services.first_run import prepare
from tools_app.services.policies import current_version, decide
from tools_app.services.sign_in_links import use_link

pytestmark = pytest.mark.django_db


def test_the_first_start_makes_all_that_is_needed() -> None:
    first = prepare()
    assert set(Group.objects.values_list("name", flat=True)) >= set(ROLES)
    assert set(AgentProfile.objects.values_list("slug", flat=True)) == {"main", "coding", "support"}
    assert Tool.objects.filter(name="calculator").exists()
    assert current_version().number == 1
    admin = User.objects.get(username=first.admin_username)
    assert first.created
    assert admin.check_password(first.password)
    assert actor_for_user(admin).has("admin")


def test_the_samples_show_what_a_policy_does() -> None:
    prepare()
    effects = {
        agent: decide(tool_name="calculator", agent=agent).effect
        for agent in ("main", "coding", "support")
    }
    assert effects == {"main": "allow", "coding": "allow", "support": "deny"}


def test_a_second_start_makes_nothing_and_tells_no_secret() -> None:
    prepare()
    again = prepare()
    assert (again.created, again.password, again.sign_in_path) == (False, None, None)
    assert User.objects.count() == 1
    assert PolicyVersion.objects.count() == 1


def test_a_password_from_the_environment_is_used_and_not_printed(settings) -> None:
    settings.OPENJARVIS_ADMIN_USERNAME = "chief"
    settings.OPENJARVIS_ADMIN_PASSWORD = "from the environment"
    first = prepare()
    assert (first.created, first.password) == (True, None)
    assert User.objects.get(username="chief").check_password("from the environment")
    assert "environment" not in repr(first)


def test_an_installation_with_an_admin_gets_no_other() -> None:
    make_user("anna", "admin")
    assert not prepare().created
    assert User.objects.count() == 1


def test_agents_that_were_deleted_stay_away() -> None:
    prepare()
    AgentProfile.objects.all().delete()
    prepare()
    assert not AgentProfile.objects.exists()


def test_other_tables_in_the_settings_are_a_new_version(settings) -> None:
    prepare()
    settings.OPENJARVIS_TABLE_SET = "2026.2.26"
    prepare()
    version = current_version()
    assert (version.number, version.table_set) == (2, "2026.2.26")
    assert version.document == PolicyVersion.objects.get(number=1).document
    prepare()
    assert current_version().number == 2


def test_the_link_signs_the_admin_in_once() -> None:
    first = prepare()
    *_, uid, token = first.sign_in_path.strip("/").split("/")
    assert use_link(uid, token).username == first.admin_username
    assert use_link(uid, token) is None
