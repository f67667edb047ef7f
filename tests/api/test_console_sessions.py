"""Signing in and out, one-time links, and what a browser keeps."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.builders import PASSWORD, make_user
from tools_app.services.sign_in_links import make_sign_in_link

pytestmark = pytest.mark.usefixtures("installed")


def test_the_password_signs_in_and_leads_to_the_page_that_was_asked_for():
    make_user("vera", "viewer")
    form = {"username": "vera", "password": PASSWORD, "next": "/runs/"}
    assert Client().post("/sign-in/", form)["Location"] == "/runs/"


def test_a_wrong_password_is_an_error_that_names_neither_part():
    make_user("vera", "viewer")
    answer = Client().post("/sign-in/", {"username": "vera", "password": "wrong"})
    assert "Name or password is wrong" in answer.text
    assert "autofocus" in answer.text


def test_signing_in_never_leads_to_another_site():
    make_user("vera", "viewer")
    form = {"username": "vera", "password": PASSWORD, "next": "https://evil.example/"}
    assert Client().post("/sign-in/", form)["Location"] == "/"


def test_only_a_post_signs_out():
    client = Client()
    client.force_login(make_user("vera", "viewer"))
    assert client.get("/sign-out/").status_code == 405
    assert client.get("/").status_code == 200
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
    assert client.get("/").status_code == 302


def test_a_link_is_not_used_up_by_looking_at_it():
    link = make_sign_in_link(make_user("vera", "viewer"))
    client = Client()
    assert client.get(link).status_code == 200
    assert client.get(link).status_code == 200
    assert client.get("/").status_code == 302
    assert client.post(link)["Location"] == "/"
    assert client.get("/").status_code == 200


def test_a_link_works_once():
    link = make_sign_in_link(make_user("vera", "viewer"))
    Client().post(link)
    second = Client().post(link)
    assert second.status_code == 410
    assert "no longer works" in second.text


@pytest.mark.parametrize("link", ["/sign-in/once/MQ/nope/", "/sign-in/once/%FF/x/"])
def test_a_made_up_link_is_gone(link: str):
    assert Client().get(link).status_code == 410


def test_forms_need_their_token():
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user("vera", "viewer"))
    for path in ("/sign-out/", "/preferences/", "/set-language/", "/tokens/", "/freezes/new/"):
        assert client.post(path).status_code == 403, path


def test_the_language_is_kept_and_the_page_stays():
    client = Client()
    answer = client.post("/set-language/", {"language": "th", "next": "/sign-in/?x=1"})
    assert answer["Location"] == "/sign-in/?x=1"
    assert '<html lang="th"' in client.get("/sign-in/").text


@pytest.mark.parametrize("language", ["", "xx", "../etc"])
def test_an_unknown_language_is_refused(language: str):
    assert Client().post("/set-language/", {"language": language}).status_code == 400


def test_a_chosen_scheme_is_in_the_first_byte_of_the_page():
    client = Client()
    assert "data-scheme" not in client.get("/sign-in/").text
    client.post("/preferences/", {"scheme": "dark", "next": "/sign-in/"})
    assert 'data-scheme="dark"' in client.get("/sign-in/").text


@pytest.mark.parametrize("form", [{}, {"scheme": "pink"}, {"unknown": "x"}])
def test_an_unknown_preference_is_refused(form: dict[str, str]):
    assert Client().post("/preferences/", form).status_code == 400


def test_a_preference_never_leads_to_another_site():
    form = {"scheme": "dark", "next": "//evil.example"}
    assert Client().post("/preferences/", form)["Location"] == "/"
