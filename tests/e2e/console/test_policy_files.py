"""Importing a file, seeing the drift, and going back to an old version."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.product import Product

pytestmark = pytest.mark.slow


def test_a_file_is_planned_applied_and_undone(console: Page, used_product: Product, admin_token):
    first = used_product.get("/api/v1/policy", token=admin_token).json
    console.goto("/policy/")
    console.get_by_role("link", name="Import a file…").click()
    console.get_by_label("Kind of file").select_option("openclaw")
    console.get_by_label("Or its text").fill("{ // new\n tools: {deny: ['think',]},\n web: {}}")
    console.get_by_role("button", name="Plan").click()
    expect(console.locator("main")).to_contain_text("A new version of the policy is published")
    expect(console.locator("main")).to_contain_text("ignored: web line 3")
    assert used_product.get("/api/v1/policy", token=admin_token).json["number"] == first["number"]

    console.get_by_role("button", name="Apply all of it").click()
    expect(console.locator("main")).to_contain_text("Export everything as YAML")
    applied = used_product.get("/api/v1/policy", token=admin_token).json
    assert applied["document"] == {"tools": {"deny": ["think"]}}

    console.goto(f"/policy/{first['number']}/")
    console.get_by_role("button", name=f"Publish v{first['number']} again").click()
    expect(console.locator("main")).to_contain_text("Differs from the file that was applied last")
    back = used_product.get("/api/v1/policy", token=admin_token).json
    assert (back["digest"], back["number"]) == (first["digest"], first["number"] + 2)


def test_a_file_with_an_error_says_the_line(console: Page):
    console.goto("/policy/files/")
    console.get_by_label("Or its text").fill("policy:\n  tools:\n    deny: [no]\n")
    console.get_by_role("button", name="Plan").click()
    expect(console.locator("main")).to_contain_text("line 3: must be text")
    expect(console.get_by_role("button", name="Apply all of it")).to_have_count(0)
