"""JSON as a bounded tree."""

from __future__ import annotations

from tools_app.console.json_trees import MAX_NODES, Node, json_tree


def count(node: Node) -> int:
    return 1 + sum(count(child) for child in node.children)


def test_kinds_keys_and_texts():
    tree = json_tree({"a": None, "b": [True, 1.5, "x"], "c": {}})
    assert [(child.key, child.kind, child.text) for child in tree.children] == [
        ("a", "word", "null"),
        ("b", "array", ""),
        ("c", "object", ""),
    ]
    assert [(c.kind, c.text) for c in tree.children[1].children] == [
        ("word", "true"),
        ("number", "1.5"),
        ("string", "x"),
    ]


def test_a_large_value_is_cut_and_says_by_how_much():
    tree = json_tree(list(range(10_000)))
    assert count(tree) <= MAX_NODES + 1
    cut = tree.children[-1]
    assert cut.kind == "cut"
    assert len(tree.children) - 1 + cut.count == 10_000


def test_a_long_string_is_folded_without_losing_any_of_it():
    text = "line\n" * 100 + "x" * 5000
    node = json_tree(text)
    assert node.text + node.rest == text
    assert node.text.count("\n") == 20
