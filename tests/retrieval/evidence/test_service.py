from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine

from llmwiki.domain import EmbedderIdentity
from llmwiki.errors import QuotaExhaustedError
from llmwiki.ports import Vectors
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.evidence import rescue
from llmwiki.retrieval.evidence.details import FamiliesDetail, RescueDetail, ReserveDetail
from llmwiki.retrieval.evidence.plan_files import PlanLibrary, load_plans
from llmwiki.retrieval.evidence.reservation import EXTRA_PLACES
from tests.retrieval.evidence.pipeline import Walk, walk
from tests.support.cluster_docs import (
    CLUSTER_DOCS,
    FAMILY_OF_PATH,
    PLAN,
    QUESTION,
    RBAC,
    SECRET,
    SERVICE_ACCOUNT,
    SERVICE_ACCOUNT_PATH,
)
from tests.support.wiki import Wiki

STEPS = ("families", "rescue", "reserve", "grade", "restore")
FEW = 8
"""So few candidates that none tells of service accounts."""


class SpentEmbedder:
    """A service that embedded the question and has no quota for more."""

    identity = EmbedderIdentity(name="hashing-256", dimension=256)

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise QuotaExhaustedError(f"no quota for {len(texts)} texts")


@pytest.fixture
def cluster(engine: Engine, tmp_path: Path) -> Wiki:
    wiki = Wiki(engine, tmp_path / "docs")
    wiki.folder.mkdir()
    wiki.ingest(CLUSTER_DOCS)
    return wiki


@pytest.fixture
def parts(cluster: Wiki) -> Parts:
    return cluster.app.retrieval


@pytest.fixture
def plans(tmp_path: Path) -> PlanLibrary:
    return read(tmp_path, PLAN)


def read(tmp_path: Path, *texts: str) -> PlanLibrary:
    folder = tmp_path / "plans"
    folder.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        (folder / f"{number}.yaml").write_text(text)
    return load_plans(folder)


def families(taken: Walk) -> set[str]:
    return {FAMILY_OF_PATH[path] for path in taken.kept if path in FAMILY_OF_PATH}


def test_the_example_of_the_specification_goes_from_two_thirds_to_three(
    parts: Parts, plans: PlanLibrary
) -> None:
    assert families(walk(parts, QUESTION)) == {SECRET, RBAC}
    taken = walk(parts, QUESTION, plans)
    assert families(taken) == {SECRET, SERVICE_ACCOUNT, RBAC}
    assert len(taken.kept) == 4
    assert taken.restored.missing == ()


def test_a_family_whose_document_is_gone_is_named_as_missing(
    cluster: Wiki, plans: PlanLibrary
) -> None:
    rest = {path: text for path, text in CLUSTER_DOCS.items() if path != SERVICE_ACCOUNT_PATH}
    cluster.ingest(rest)
    taken = walk(cluster.app.retrieval, QUESTION, plans)
    assert families(taken) == {SECRET, RBAC}
    assert taken.restored.missing == ("ServiceAccount",)
    facts = taken.ended("restore").facts()
    assert facts["detail"]["missing"] == ("ServiceAccount",)
    rescue = taken.ended("rescue").detail
    assert isinstance(rescue, RescueDetail)
    assert [(each.searched, each.found) for each in rescue.rescues] == [(0, 0)]


def test_what_was_not_found_at_all_is_searched_once_within_its_family(
    parts: Parts, plans: PlanLibrary
) -> None:
    taken = walk(parts, QUESTION, plans, wide=FEW)
    assert families(taken) == {SECRET, SERVICE_ACCOUNT, RBAC}
    detail = taken.ended("rescue").detail
    assert isinstance(detail, RescueDetail)
    assert detail.method == "dense, lexical, identifiers"
    [rescue] = detail.rescues
    assert (rescue.family, rescue.query) == (
        "ServiceAccount",
        "Pod ServiceAccount workload identity",
    )
    assert rescue.found == 2


def test_the_order_stays_that_of_the_ranking(parts: Parts, plans: PlanLibrary) -> None:
    taken = walk(parts, QUESTION, plans, wide=FEW)
    scores = [each.score for each in taken.restored.kept]
    assert scores == sorted(scores, reverse=True)


def test_a_rescued_chunk_has_the_score_that_the_fusion_gives_it(
    parts: Parts, plans: PlanLibrary
) -> None:
    fused = {each.id: each.fused_score for each in walk(parts, QUESTION).found}
    for each in walk(parts, QUESTION, plans, wide=FEW).restored.kept:
        assert each.fused_score == pytest.approx(fused[each.id])


def test_without_vectors_a_rescue_goes_by_words_and_says_so(
    cluster: Wiki, plans: PlanLibrary
) -> None:
    assert cluster.collection is not None
    spent = SpentEmbedder()
    spent.identity = cluster.collection.embedder
    parts = replace(cluster.app.retrieval, embedder=spent)
    taken = walk(parts, QUESTION, plans, wide=FEW)
    event = taken.ended("rescue")
    assert (event.status, event.error) == ("error", "QuotaExhaustedError")
    assert isinstance(event.detail, RescueDetail)
    assert event.detail.method == "lexical, identifiers"
    assert SERVICE_ACCOUNT in families(taken)


def test_a_question_of_no_known_shape_passes_through_unchanged(
    parts: Parts, plans: PlanLibrary
) -> None:
    taken = walk(parts, "How is load spread over replicas?", plans)
    assert taken.restored.kept == taken.found[:4]
    assert [(event.status, event.reason) for event in map(taken.ended, STEPS)] == [
        ("skipped", "no-families")
    ] * len(STEPS)


def test_an_untrusted_chunk_is_no_witness(parts: Parts, plans: PlanLibrary) -> None:
    taken = walk(parts, QUESTION, plans, limit=3)
    detail = taken.ended("reserve").detail
    assert isinstance(detail, ReserveDetail)
    assert taken.found[0].chunk.document_path == "blog/secret-tips.md"
    [secret] = [each for each in detail.witnesses if "Secret" in each.families]
    assert secret.authority_tier == "official"


def test_a_family_of_another_version_has_no_witness(parts: Parts, tmp_path: Path) -> None:
    newer = PLAN.replace("    authority: official\n", "    version: '>=2'\n")
    taken = walk(parts, QUESTION, read(tmp_path, newer))
    assert taken.restored.missing == ("Secret",)
    assert taken.ended("reserve").facts()["detail"]["uncovered"] == ("Secret",)


def test_more_families_than_places_raise_their_number(parts: Parts, plans: PlanLibrary) -> None:
    taken = walk(parts, QUESTION, plans, limit=2)
    assert families(taken) == {SECRET, SERVICE_ACCOUNT, RBAC}
    detail = taken.ended("reserve").detail
    assert isinstance(detail, ReserveDetail)
    assert (detail.wanted, detail.places) == (2, 3)


def test_far_too_many_families_are_refused_with_what_is_not_covered(
    cluster: Wiki, tmp_path: Path
) -> None:
    many = "name: many\nwhen: [pod]\nfamilies:\n" + "".join(
        f"- {{name: f{number}, rescue: pod, match: {{source: more/{number}.md}}}}\n"
        for number in range(EXTRA_PLACES + 2)
    )
    more = {f"more/{number}.md": f"# Page {number}\n\nA Pod.\n" for number in range(15)}
    cluster.ingest({**CLUSTER_DOCS, **more})
    taken = walk(cluster.app.retrieval, QUESTION, read(tmp_path, many), limit=1)
    event = taken.ended("reserve")
    assert (event.status, event.reason) == ("skipped", "too-many-families")
    assert taken.restored.kept == taken.found[:1]
    assert len(taken.restored.missing) == EXTRA_PLACES + 2


def test_a_broken_plan_is_told_and_the_question_goes_on(
    parts: Parts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = walk(parts, QUESTION, read(tmp_path, PLAN, "name: broken\n"))
    event = taken.ended("families")
    assert (event.status, event.error) == ("error", "ConfigurationError")
    assert "plans/1.yaml:1: the key `when` is missing" in (event.message or "")
    assert isinstance(event.detail, FamiliesDetail)
    assert len(event.detail.families) == 3
    assert families(taken) == {SECRET, SERVICE_ACCOUNT, RBAC}
    assert "plans.broken" in "".join(capsys.readouterr())
    alone = walk(parts, "How is load spread?", read(tmp_path, "nonsense"))
    assert alone.restored.kept == alone.found[:4]


def test_a_witness_that_the_budget_cut_comes_back(parts: Parts, plans: PlanLibrary) -> None:
    taken = walk(parts, QUESTION, plans, cut=lambda kept: kept[:2])
    assert SERVICE_ACCOUNT in families(taken)
    assert taken.restored.restored
    assert taken.ended("restore").status == "done"
    assert taken.graded.protected <= {each.id for each in taken.restored.kept}


def test_what_the_question_names_gets_a_place_without_any_plan(parts: Parts) -> None:
    question = "Do probes or volumes need a Pod that can authenticate?"
    taken = walk(parts, question, limit=3)
    detail = taken.ended("families").detail
    assert isinstance(detail, FamiliesDetail)
    assert [(each.name, each.origin, each.required) for each in detail.families] == [
        ("Probes", "named", False),
        ("Volumes", "named", False),
    ]
    assert {"tasks/probes.md", "concepts/storage.md"} & set(taken.kept)
    assert taken.restored.missing == ()


def test_a_name_that_is_in_the_question_by_its_stem_alone_is_no_family(cluster: Wiki) -> None:
    cluster.ingest({**CLUSTER_DOCS, "physics.md": "# Relativity\n\nTime is no absolute.\n"})
    parts = cluster.app.retrieval
    question = "Which relations are there between probes and load?"
    assert walk(parts, question, wide=3).ended("families").reason == "no-families"
    assert walk(parts, question).ended("families").status == "done"


def test_automatic_families_can_be_switched_off(parts: Parts) -> None:
    settings = parts.settings.model_copy(update={"automatic_families": False})
    taken = walk(replace(parts, settings=settings), "Do probes or volumes need a Pod?")
    assert taken.ended("families").reason == "no-families"


def test_what_a_witness_goes_on_from_comes_with_it(cluster: Wiki, tmp_path: Path) -> None:
    rows = "\n".join(f"- step {number} binds the turbine to the shaft" for number in range(40))
    cluster.ingest({**CLUSTER_DOCS, "turbine.md": f"# Turbine\n\nIn this order:\n\n{rows}\n"})
    plan = (
        "name: t\nwhen: [pod]\nfamilies:\n- {name: turbine, match: {source: turbine.md}, "
        "rescue: step binds the turbine to the shaft}\n"
    )
    taken = walk(cluster.app.retrieval, QUESTION, read(tmp_path, plan), wide=FEW)
    texts = [
        each.chunk.text for each in taken.restored.kept if each.chunk.document_path == "turbine.md"
    ]
    assert len(texts) == 2
    assert texts[0].startswith("In this order:") or texts[1].startswith("In this order:")
    assert taken.ended("reserve").facts()["detail"]["lead_ins"] == 1


def test_in_a_large_family_the_tiers_search(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescue, "LARGEST_SCORED", 1)
    taken = walk(parts, QUESTION, read(tmp_path, PLAN), wide=FEW)
    assert SERVICE_ACCOUNT in families(taken)
    detail = taken.ended("rescue").detail
    assert isinstance(detail, RescueDetail)
    assert [each.found for each in detail.rescues] == [2]


def test_what_was_ingested_since_is_searched(cluster: Wiki, plans: PlanLibrary) -> None:
    rest = {path: text for path, text in CLUSTER_DOCS.items() if path != SERVICE_ACCOUNT_PATH}
    cluster.ingest(rest)
    assert walk(cluster.app.retrieval, QUESTION, plans, wide=FEW).restored.missing
    cluster.ingest(CLUSTER_DOCS)
    assert not walk(cluster.app.retrieval, QUESTION, plans, wide=FEW).restored.missing
