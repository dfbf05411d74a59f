from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from llmwiki.domain import Collection, EmbedderIdentity
from llmwiki.evaluation.configurations import Configuration, configure
from llmwiki.evaluation.retrievers import ProductRetriever, RememberingEmbedder
from llmwiki.evaluation.tables import NO_PLANS
from llmwiki.ports import Vectors
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.evidence.plan_files import load_plans
from llmwiki.store.vectors import read_vectors
from tests.providers.conftest import FakeClock
from tests.support.wiki import Wiki, prose

CONFIGURED = Configuration(name="configured")
FILES = {
    f"{topic}.md": f"# {topic.title()}\n\n{prose(topic)}\n"
    for topic in ("backup", "alert", "probe")
}
PLAN = """\
name: backup
when: [[backup]]
families:
  - name: policy
    match: {source: backup.md}
    authority: official
  - name: alarm
    match: {source: alert.md}
    authority: official
  - name: anything
    match: {source: "*.md"}
"""


class CountingEmbedder:
    """Embeds, and keeps what it was asked for."""

    identity = HashingEmbedder().identity

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(tuple(texts))
        return HashingEmbedder().embed(texts)


@pytest.fixture
def parts(wiki: Wiki) -> Parts:
    wiki.ingest(FILES)
    return Parts(engine=wiki.engine, embedder=HashingEmbedder(), clock=FakeClock())


@pytest.fixture
def collection(wiki: Wiki, parts: Parts) -> Collection:
    assert parts.engine is wiki.engine
    assert wiki.collection is not None
    return wiki.collection


def retriever(
    parts: Parts, collection: Collection, configuration: Configuration = CONFIGURED
) -> ProductRetriever:
    return ProductRetriever(parts=parts, configuration=configuration, collection=collection)


def test_the_final_order_comes_with_the_documents_of_the_context_and_its_events(
    parts: Parts, collection: Collection
) -> None:
    found = retriever(parts, collection)("What keeps the backup value?", limit=3)
    assert len(found.chunks) == 3
    assert found.chunks[0].document_path == "backup.md"
    assert {chunk.document_path for chunk in found.chunks} <= found.documents
    assert found.problem is None
    assert {"dense", "lexical", "fuse"} <= {event["step"] for event in found.events}


def test_equal_questions_have_equal_rankings(parts: Parts, collection: Collection) -> None:
    ask = retriever(parts, collection)
    question = "Which value is read again?"
    assert ask(question, limit=20).chunks == ask(question, limit=20).chunks


def test_the_settings_are_those_of_the_configuration(parts: Parts, collection: Collection) -> None:
    alone = configure(CONFIGURED, "lexical alone", ["weights.dense=0", "weights.identifiers=0"])
    found = retriever(parts, collection, alone)("What of the probe?", limit=3)
    ended = {(event["step"], event["status"]) for event in found.events}
    assert ("dense", "skipped") in ended
    assert ("lexical", "done") in ended


def test_a_question_that_cannot_be_asked_comes_with_its_problem(
    parts: Parts, collection: Collection
) -> None:
    found = retriever(parts, collection)("why? " * 5_000, limit=3)
    assert found.chunks == ()
    assert found.problem is not None
    assert "characters" in found.problem


def test_diversity_reorders_what_was_found_and_keeps_to_the_limit(
    parts: Parts, collection: Collection
) -> None:
    question = "Which backup number keeps its value?"
    plain = retriever(parts, collection)(question, limit=50)
    for share, expected in (("1", plain.chunks[:5]), ("0.2", None)):
        diverse = configure(CONFIGURED, "mmr", [f"mmr={share}"])
        found = retriever(parts, collection, diverse)(question, limit=5)
        assert len(found.chunks) == 5
        assert set(found.chunks) <= set(plain.chunks)
        assert found.documents == {chunk.document_path for chunk in found.chunks}
        if expected is not None:
            assert found.chunks == expected


def test_a_question_is_embedded_once_for_all_its_contexts(
    parts: Parts, collection: Collection
) -> None:
    embedder = CountingEmbedder()
    ask = retriever(replace(parts, embedder=RememberingEmbedder(embedder)), collection)
    for question in ("What of the backup?", "What of the alert?"):
        for limit in (10, 4, 50):
            ask(question, limit=limit)
    assert embedder.asked == [("What of the backup?",), ("What of the alert?",)]


def test_witnesses_are_judged_by_the_plans_whether_or_not_they_are_used(
    wiki: Wiki, tmp_path: Path
) -> None:
    plans = tmp_path / "plans"
    plans.mkdir()
    (plans / "backup.yaml").write_text(PLAN)
    official = f"---\nauthority_tier: official\n---\n{FILES['backup.md']}"
    wiki.folder.joinpath("docs").mkdir()
    wiki.folder = wiki.folder / "docs"
    wiki.ingest({**FILES, "backup.md": official})
    assert wiki.collection is not None
    ask = ProductRetriever(
        parts=Parts(engine=wiki.engine, embedder=HashingEmbedder(), clock=FakeClock()),
        configuration=configure(CONFIGURED, "plain", [NO_PLANS]),
        collection=wiki.collection,
        plans=load_plans(plans),
    )
    found = ask("Which backup keeps its value?", limit=12)
    assert {witness.family for witness in found.witnesses} == {"policy", "alarm"}
    for witness in found.witnesses:
        assert witness.authority_met == (witness.family == "policy")
    assert ask("Which probe keeps its value?", limit=12).witnesses == ()


def test_vectors_are_read_in_the_space_of_the_collection(
    parts: Parts, collection: Collection
) -> None:
    found = retriever(parts, collection)("backup", limit=2)
    ids = [chunk.chunk_id for chunk in found.chunks]
    with parts.engine.connect() as connection:
        vectors = read_vectors(connection, collection, ids)
        other = replace(collection, embedder=EmbedderIdentity(name="other", dimension=3))
        assert read_vectors(connection, other, ids) == {}
    assert vectors.keys() == set(ids)
    for vector in vectors.values():
        assert vector.shape == (collection.embedder.dimension,)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)
