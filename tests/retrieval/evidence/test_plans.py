from pathlib import Path

import pytest

from llmwiki.domain import ChunkId, CollectionId, DocumentId
from llmwiki.retrieval.evidence.plan_files import load_plans
from llmwiki.retrieval.evidence.plans import Plan, evidence_plan
from llmwiki.store.found_chunks import FoundChunk
from tests.support.cluster_docs import PLAN, QUESTION


def chunk(
    path: str = "a.md",
    *breadcrumb: str,
    family: str | None = None,
    tier: str | None = None,
    **attributes: object,
) -> FoundChunk:
    return FoundChunk(
        id=ChunkId(1),
        collection_id=CollectionId(1),
        document_id=DocumentId(1),
        document_path=path,
        document_title="A",
        section_id=ChunkId(2),
        position=1,
        breadcrumb=breadcrumb or ("A",),
        text="text",
        content_hash="h",
        token_count=1,
        evidence_family=family,
        authority_tier=tier,
        attributes=attributes,
    )


@pytest.fixture
def plans(tmp_path: Path) -> tuple[Plan, ...]:
    (tmp_path / "a.yaml").write_text(PLAN)
    return load_plans(tmp_path).plans


@pytest.mark.parametrize(
    ("question", "recognised"),
    [
        (QUESTION, True),
        ("WORKLOAD — Identity?", True),
        ("Which service account does a container have?", True),
        ("Which credentials are there?", False),
        ("Are podiums identities?", False),
        ("", False),
    ],
)
def test_every_group_must_occur(plans: tuple[Plan, ...], question: str, recognised: bool) -> None:
    names = [family.name for family in evidence_plan(question, plans)]
    assert names == (["Secret", "ServiceAccount", "RBAC"] if recognised else [])


def test_the_families_of_all_plans_that_apply_are_required(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(PLAN)
    (tmp_path / "b.yaml").write_text(
        "name: b\nwhen: [pod]\nfamilies:\n- {name: Secret, match: {source: x.md}}\n"
    )
    families = evidence_plan(QUESTION, load_plans(tmp_path).plans)
    assert [(family.plan, family.name) for family in families][-1] == ("b", "Secret")
    assert len(families) == 4


def test_membership_is_by_path_heading_or_metadata(plans: tuple[Plan, ...]) -> None:
    secret, account, rbac = plans[0].families
    assert secret.is_member(chunk("concepts/secret.md"))
    assert not secret.is_member(chunk("concepts/other.md", "Secret"))
    assert account.is_member(chunk("x.md", "Security", "The service accounts of Pods"))
    assert rbac.is_member(chunk(family="Access-Control"))
    assert not rbac.is_member(chunk())


def test_all_kinds_of_conditions_must_hold(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "name: a\nwhen: [b]\nfamilies:\n- name: f\n  match:\n    source: ['a.md', {regex: ^b}]\n"
        "    attributes: {kind: [reference, howto], audience: developers}\n"
    )
    [family] = load_plans(tmp_path).plans[0].families
    assert family.is_member(chunk("a.md", kind="Howto", audience=["Developers", "admins"]))
    assert family.is_member(chunk("b/x.md", kind="reference", audience="developers"))
    assert not family.is_member(chunk("a.md", kind="howto"))
    assert not family.is_member(chunk("c.md", kind="howto", audience="developers"))


def test_a_family_without_a_rescue_is_searched_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "name: a\nwhen: [b]\nfamilies:\n- {name: access-control, match: {source: c}}\n"
    )
    [family] = load_plans(tmp_path).plans[0].families
    assert family.query == "access control"
