from pathlib import Path

import pytest

from llmwiki.domain import ChunkId, DocumentId
from llmwiki.retrieval.evidence.plan_files import load_plans
from llmwiki.retrieval.evidence.plan_lint import Corpus, check_corpus, check_files
from llmwiki.retrieval.evidence.reservation import EXTRA_PLACES
from llmwiki.store.family_search import DocumentPlace, SectionPlace

PLAN = """\
name: a
when: [b]
families:
- name: f
  rescue: query
  match: {match}
"""


def corpus_of(*paths: str, tier: str | None = None) -> Corpus:
    return Corpus(
        documents={
            DocumentId(number): DocumentPlace(
                id=DocumentId(number),
                path=path,
                title=path,
                evidence_family=None,
                authority_tier=tier,
                version=None,
                attributes={},
            )
            for number, path in enumerate(paths)
        },
        sections=tuple(
            SectionPlace(
                id=ChunkId(number),
                document_id=DocumentId(number),
                breadcrumb=(path, "Introduction"),
            )
            for number, path in enumerate(paths)
        ),
        sizes={ChunkId(number): 2 for number in range(len(paths))},
    )


LIMIT = 4
CORPUS = corpus_of("a.md", "b.md", "c.md", "d.md", "e/f.md")


def found(folder: Path, text: str, corpus: Corpus = CORPUS) -> list[str]:
    (folder / "plan.yaml").write_text(text)
    library = load_plans(folder)
    findings = (*check_files(library, limit=LIMIT), *check_corpus(library, corpus))
    return [f"{finding.place.line} {finding.severity} {finding.code}" for finding in findings]


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("{source: a.md}", []),
        ("{source: nowhere/*.md}", ["4 error matches-nothing"]),
        ("{heading: unheard of}", ["4 error matches-nothing"]),
        ("{source: '**/*.md'}", ["4 error matches-everything"]),
        ("{heading: introduction}", ["4 error matches-everything"]),
        ("{source: [a.md, b.md]}", ["4 warning matches-much"]),
    ],
)
def test_a_family_holds_some_of_the_corpus_and_not_much_of_it(
    tmp_path: Path, match: str, expected: list[str]
) -> None:
    assert found(tmp_path, PLAN.replace("{match}", match)) == expected


def test_a_family_without_a_rescue_query_is_told(tmp_path: Path) -> None:
    text = PLAN.replace("  rescue: query\n", "").replace("{match}", "{source: a.md}")
    assert found(tmp_path, text) == ["4 warning no-rescue"]


def test_a_group_that_any_question_satisfies_is_told(tmp_path: Path) -> None:
    text = PLAN.replace("{match}", "{source: a.md}").replace("[b]", "[b, {regex: 'x*'}]")
    assert found(tmp_path, text) == ["2 warning always"]


@pytest.mark.parametrize(
    ("minimum", "expected"), [(4, []), (5, ["1 warning many"]), (9, ["1 warning many"])]
)
def test_a_plan_that_makes_contexts_grow_is_told(
    tmp_path: Path, minimum: int, expected: list[str]
) -> None:
    text = PLAN.replace("{match}", "{source: a.md}") + f"  min: {minimum}\n"
    assert found(tmp_path, text) == expected


def test_a_plan_that_no_context_has_room_for_is_told(tmp_path: Path) -> None:
    assert EXTRA_PLACES == 10
    second = "- {name: g, rescue: q, min: 10, match: {source: b.md}}\n"
    text = PLAN.replace("{match}", "{source: a.md}")
    assert found(tmp_path, f"{text}  min: {LIMIT}\n{second}") == ["1 warning many"]
    assert found(tmp_path, f"{text}  min: {LIMIT + 1}\n{second}") == ["1 error too-many"]


def test_families_that_share_their_chunks_are_told(tmp_path: Path) -> None:
    text = PLAN.replace("{match}", "{source: a.md}") + (
        "- name: g\n  rescue: query\n  match: {heading: {regex: '^a.md$'}}\n"
    )
    assert found(tmp_path, text) == ["7 warning overlap"]


def test_a_family_whose_members_all_lack_the_authority_is_told(tmp_path: Path) -> None:
    text = PLAN.replace("{match}", "{source: a.md}") + "  authority: approved\n"
    assert found(tmp_path, text, corpus_of("a.md", "b", "c", "d", tier="community")) == [
        "4 error no-witness"
    ]
    assert found(tmp_path, text, corpus_of("a.md", "b", "c", "d", tier="official")) == []


def test_a_broken_file_is_an_error_beside_the_others(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("name: a\n")
    assert found(tmp_path, PLAN.replace("{match}", "{source: a.md}")) == [
        "1 error invalid",
        "1 error invalid",
    ]
