import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.retrieval.evidence.authority import (
    has_authority,
    is_version,
    read_constraint,
    version_key,
)

TIERS = ("official", "approved", "community")


@pytest.mark.parametrize(
    ("constraint", "version", "expected"),
    [
        (">=1.9", "1.10", True),
        (">=1.24,<2", "v1.24.3", True),
        (">=1.24,<2", "2.0", False),
        ("<2", "2.0rc1", True),
        ("1.24", "1.24.0", True),
        ("==1.24", "1.24.1", False),
        ("!=1.24", "1.25", True),
        (">=2026-07", "2026-11", True),
        (">=2026-07", "2025-12", False),
        (">1.9", None, False),
        (">1.9", "draft", False),
        (" >= 3 , < 4 ", "3.11", True),
    ],
)
def test_a_constraint_compares_parts_as_numbers(
    constraint: str, version: str | None, expected: bool
) -> None:
    assert read_constraint(constraint).allows(version) is expected


@pytest.mark.parametrize("text", ["", "latest", ">=", ">=1,", "1 2", "=>1", ">=1;<2", "9" * 13])
def test_what_is_no_constraint_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no version constraint"):
        read_constraint(text)


@pytest.mark.parametrize(
    ("tier", "minimum", "expected"),
    [
        ("official", "approved", True),
        ("approved", "approved", True),
        ("community", "approved", False),
        (None, "community", False),
        ("unheard-of", "community", False),
        (None, None, True),
    ],
)
def test_a_tier_must_be_the_minimum_or_better(
    tier: str | None, minimum: str | None, expected: bool
) -> None:
    assert has_authority(tier, minimum, TIERS) is expected


def test_versions_sort_as_people_count() -> None:
    written = ["draft", "1.9", "1.10", "2.0rc1", "2.0", "2.0.1", "v3"]
    shuffled = ["2.0", "1.10", "v3", "1.9", "2.0.1", "draft", "2.0rc1"]
    assert sorted(shuffled, key=version_key) == written


@settings(deadline=None)
@given(st.text(max_size=30))
def test_no_version_breaks_a_constraint(version: str) -> None:
    assert read_constraint(">=0").allows(version) in {True, False}
    if is_version(version):
        assert version_key(version) != ()
