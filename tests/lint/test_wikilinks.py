import time

import pytest

from llmwiki.lint.excerpts import excerpt
from llmwiki.lint.wikilinks import link_targets, prose_link_targets


@pytest.mark.parametrize(
    ("markdown", "targets"),
    [
        ("", []),
        ("- [[a/b|Title]]\n- [[c]]", ["a/b", "c"]),
        ("[[a|x]] and [[b|y]]", ["a", "b"]),
        ("[[a|Title with ] and [ and | in it]]", ["a"]),
        ("[[a#part|x]]", ["a"]),
        ("[[open [[a|x]]", ["a"]),
        ("[[a|ends with a bracket]]]", ["a"]),
        ("]] [[a]]", ["a"]),
        ("[[not\nclosed]]", []),
        ("[[]] [[|x]] [[#part]]", []),
        ("[a](b) [c]", []),
    ],
)
def test_links_are_read_with_their_slug(markdown: str, targets: list[str]) -> None:
    assert list(link_targets(markdown)) == targets


@pytest.mark.parametrize(
    ("markdown", "targets"),
    [
        ("[[a]] `[[b]]` \\[\\[c]]", ["a"]),
        ("\\`[[a]]\\`", ["a"]),
        ("```\n[[a]]\n```\n[[b]]", ["b"]),
        ("````\n```\n[[a]]\n````\n[[b]]", ["b"]),
    ],
)
def test_links_of_a_body_are_read_outside_of_code(markdown: str, targets: list[str]) -> None:
    assert list(prose_link_targets(markdown)) == targets


@pytest.mark.parametrize("piece", ["[[", "]]", "[[a]]", "[", "[[a|"])
def test_hostile_markdown_takes_linear_time(piece: str) -> None:
    started = time.process_time()
    assert len(list(link_targets(piece * 200_000 + "]]"))) >= 0
    assert time.process_time() - started < 15


def test_an_excerpt_is_one_short_line() -> None:
    assert excerpt("a\n  b") == "“a b”"
    assert excerpt("word " * 40) == f"“{('word ' * 16).rstrip()}…”"
