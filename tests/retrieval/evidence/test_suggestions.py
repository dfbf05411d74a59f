from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.domain import TopicId
from llmwiki.retrieval.evidence.plan_files import PlanLibrary, load_plans
from llmwiki.retrieval.evidence.suggestions import (
    MOST_FAMILIES,
    Draft,
    drafts_as_yaml,
    suggest_plans,
)
from llmwiki.store.plan_sources import ListedDocument


def listed(path: str, *topics: int, title: str | None = None, chunks: int = 2) -> ListedDocument:
    return ListedDocument(
        path=path,
        title=path if title is None else title,
        folder=path.rpartition("/")[0],
        chunks=chunks,
        topics=frozenset(map(TopicId, topics)),
    )


def links(*pairs: tuple[int, int]) -> frozenset[tuple[TopicId, TopicId]]:
    return frozenset((TopicId(a), TopicId(b)) for a, b in pairs)


_STORABLE = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=90
)
FILLER = tuple(listed(f"z{number}/x.md", 100 + number) for number in range(10))


def read(folder: Path, drafts: Sequence[Draft]) -> PlanLibrary:
    (folder / "drafts.yaml").write_text(drafts_as_yaml(drafts), encoding="utf-8")
    return load_plans(folder)


def test_linked_documents_of_a_folder_are_the_families_of_a_draft(folder: Path) -> None:
    documents = [
        listed("guide/pumps.md", 1, title="Pumps"),
        listed("guide/valves.md", 2, title="Valves"),
        listed("guide/alone.md", 3, title="Alone"),
        *FILLER,
    ]
    library = read(folder, suggest_plans(documents, links((2, 1))))
    assert library.problems == ()
    [plan] = library.plans
    assert plan.name == "guide"
    assert [str(group.alternatives[0]) for group in plan.when] == ["guide", "pumps"]
    assert [family.name for family in plan.families] == ["Pumps", "Valves"]
    assert [family.query for family in plan.families] == ["guide Pumps", "guide Valves"]
    assert not any(family.required for family in plan.families)


def test_documents_that_share_a_topic_belong_together(folder: Path) -> None:
    drafts = suggest_plans([listed("a/b.md", 1), listed("a/c.md", 1), *FILLER], links())
    assert len(read(folder, drafts).plans[0].families) == 2


def test_a_long_row_of_documents_becomes_several_drafts(folder: Path) -> None:
    row = [listed(f"a/d{number}.md", number) for number in range(MOST_FAMILIES + 2)]
    pairs = links(*((number, number + 1) for number in range(len(row))))
    library = read(folder, suggest_plans([*row, *FILLER], pairs))
    assert [(plan.name, len(plan.families)) for plan in library.plans] == [("a", 5), ("a-2", 2)]


def test_drafts_whose_documents_are_linked_the_most_come_first_and_then_the_longest() -> None:
    documents = [
        *(listed(f"a/{name}.md", 1) for name in "xy"),
        *(listed(f"b/{name}.md", 2, chunks=3) for name in "xy"),
        *(listed(f"c/{name}.md", 10 + number) for number, name in enumerate("xyz")),
        *(listed(f"z{number}/x.md", 100 + number, chunks=9) for number in range(10)),
    ]
    drafts = suggest_plans(documents, links((10, 11), (11, 12)))
    assert [draft["name"] for draft in drafts] == ["c", "b", "a"]


def test_what_is_most_of_the_corpus_is_no_family() -> None:
    documents = [listed("a/b.md", 1, chunks=90), listed("a/c.md", 1), listed("a/d.md", 2)]
    assert suggest_plans(documents, links()) == ()


def test_nothing_linked_suggests_nothing() -> None:
    assert suggest_plans(FILLER, links()) == ()


@settings(deadline=None)
@given(st.lists(st.tuples(_STORABLE, _STORABLE), min_size=1, max_size=8))
def test_whatever_documents_are_called_the_drafts_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, named: list[tuple[str, str]]
) -> None:
    documents = [
        listed(f"a/{number}{path}.md", 1, title=title) for number, (title, path) in enumerate(named)
    ]
    drafts = suggest_plans([*documents, *FILLER], links())
    if drafts:
        assert read(tmp_path_factory.mktemp("plans"), drafts).problems == ()
