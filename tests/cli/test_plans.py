from pathlib import Path

import pytest

from llmwiki.cli.ask import CHUNKS_SHOWN
from tests.cli.conftest import Command
from tests.support.cluster_docs import CLUSTER_DOCS, PLAN, QUESTION, SERVICE_ACCOUNT_PATH
from tests.support.wiki import write_tree


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    folder = tmp_path / "plans"
    folder.mkdir()
    (folder / "identity.yaml").write_text(PLAN)
    return folder


@pytest.fixture
def cluster(command: Command, tmp_path: Path) -> None:
    write_tree(tmp_path / "docs", CLUSTER_DOCS)
    assert command("ingest", str(tmp_path / "docs"), "--collection", "cluster").code == 0


@pytest.mark.usefixtures("cluster", "plans")
def test_sound_plans_pass_the_lint_with_what_is_doubtful_as_warnings(command: Command) -> None:
    outcome = command("plans", "lint")
    assert outcome.code == 0
    doubtful, total = outcome.stdout.splitlines()
    assert doubtful.startswith("plans/identity.yaml:6: warning: family 'Secret' matches 44% of")
    assert total == "plans in use: 1; errors: 0; warnings: 1"


@pytest.mark.usefixtures("cluster")
def test_every_fault_is_listed_with_file_and_line_and_the_exit_code_is_one(
    command: Command, plans: Path
) -> None:
    (plans / "broken.yaml").write_text("name: b\nwhen: [x]\nfamilies: []\n")
    (plans / "identity.yaml").write_text(PLAN.replace("access-control", "unheard-of"))
    outcome = command("plans", "lint", "--json")
    assert outcome.code == 1
    errors = [
        (finding["file"], finding["line"], finding["code"])
        for finding in outcome.document["findings"]
        if finding["severity"] == "error"
    ]
    assert errors == [
        ("plans/broken.yaml", 3, "invalid"),
        ("plans/identity.yaml", 13, "matches-nothing"),
    ]
    assert outcome.document["plans"] == ["workload-identity"]


@pytest.mark.usefixtures("plans")
def test_files_are_checked_without_a_database(bare_command: Command) -> None:
    outcome = bare_command("plans", "lint", "--files")
    assert outcome.code == 0
    assert outcome.stdout == "plans in use: 1; errors: 0; warnings: 0\n"


def test_a_folder_without_plans_is_told(bare_command: Command) -> None:
    outcome = bare_command("plans", "lint", "--files")
    assert outcome.code == 0
    assert outcome.stdout.startswith("there is no plan in plans")


@pytest.mark.usefixtures("plans")
def test_plans_of_another_order_of_authority_are_read_by_it(bare_command: Command) -> None:
    bare_command.set(RETRIEVAL__AUTHORITY_TIERS='["gold", "silver"]')
    outcome = bare_command("plans", "lint", "--files")
    assert outcome.code == 1
    assert "known, the highest first: gold, silver" in outcome.stdout


def test_a_configuration_that_is_broken_ends_the_lint_of_files(
    bare_command: Command, tmp_path: Path
) -> None:
    (tmp_path / "llmwiki.toml").write_text("retrival = 1")
    outcome = bare_command("plans", "lint", "--files")
    assert outcome.code == 2
    assert "retrival" in outcome.stderr


@pytest.mark.usefixtures("cluster", "plans")
def test_a_question_is_told_with_its_families_and_witnesses(command: Command) -> None:
    command.set(RETRIEVAL__LIMIT="4")
    outcome = command("plans", "test", QUESTION)
    assert outcome.code == 0
    lines = outcome.stdout.splitlines()
    assert lines[0].startswith("Secret (plan workload-identity, required): ok")
    at = next(n for n, line in enumerate(lines) if line.startswith("ServiceAccount"))
    assert lines[at + 1] == f"  {SERVICE_ACCOUNT_PATH} (official, 1.31, brought in)"
    assert not any(line.startswith("missing") for line in lines)


@pytest.mark.usefixtures("plans")
def test_a_missing_family_is_told(command: Command, tmp_path: Path) -> None:
    rest = {path: text for path, text in CLUSTER_DOCS.items() if path != SERVICE_ACCOUNT_PATH}
    write_tree(tmp_path / "docs", rest)
    assert command("ingest", str(tmp_path / "docs"), "--collection", "cluster").code == 0
    assert command("plans", "test", QUESTION).stdout.splitlines()[-1] == "missing: ServiceAccount"
    document = command("plans", "test", QUESTION, "--json").document
    assert document["missing"] == ["ServiceAccount"]
    families = {family["name"]: family for family in document["families"]}
    assert families["ServiceAccount"]["witnesses"] == []
    assert families["ServiceAccount"]["rescued"] == 0
    assert families["RBAC"]["grade"] == "ok"


@pytest.mark.usefixtures("cluster")
def test_a_broken_plan_is_told_beside_the_families(command: Command, plans: Path) -> None:
    (plans / "broken.yaml").write_text("name: x\n")
    outcome = command("plans", "test", QUESTION)
    assert outcome.code == 0
    assert "families: plans/broken.yaml:1: the key `when` is missing" in outcome.stderr
    assert outcome.stdout.startswith("Secret")


@pytest.mark.usefixtures("cluster")
def test_a_question_without_families_says_so(command: Command) -> None:
    outcome = command("plans", "test", "How is load told?")
    assert outcome.stdout.startswith("no plan recognises the question")


@pytest.mark.usefixtures("cluster")
def test_suggestions_pass_the_lint(command: Command, tmp_path: Path) -> None:
    suggested = command("plans", "suggest")
    assert suggested.code == 0
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "drafts.yaml").write_text(suggested.stdout)
    outcome = command("plans", "lint", "--json")
    assert outcome.code == 0, outcome.stdout
    assert outcome.document["plans"] == ["concepts", "tasks", "tasks-2"]
    assert not [
        finding for finding in outcome.document["findings"] if finding["severity"] == "error"
    ]


@pytest.mark.usefixtures("cluster")
def test_suggestions_beyond_the_limit_are_counted_on_standard_error(command: Command) -> None:
    whole = command("plans", "suggest")
    assert (whole.stdout.count("\n---\n"), whole.stderr) == (3, "")
    cut = command("plans", "suggest", "--limit", "2")
    assert cut.stdout.count("\n---\n") == 2
    assert whole.stdout.startswith(cut.stdout.rstrip("\n"))
    assert cut.stderr.startswith("1 more of 3 drafts, whose documents are linked less, were left")


def test_a_corpus_without_neighbours_suggests_nothing(command: Command, tmp_path: Path) -> None:
    write_tree(tmp_path / "docs", {"a.md": "# A\n\nText.\n"})
    assert command("ingest", str(tmp_path / "docs"), "--collection", "one").code == 0
    outcome = command("plans", "suggest")
    assert (outcome.code, outcome.stdout) == (0, "")
    assert "nothing to suggest" in outcome.stderr


@pytest.mark.usefixtures("cluster", "plans")
def test_an_answer_prints_the_required_evidence_wherever_it_ranks(command: Command) -> None:
    shown = command("ask", QUESTION).stdout
    assert f"] {SERVICE_ACCOUNT_PATH} > " in shown
    [number] = [
        block["number"]
        for block in command("ask", QUESTION, "--json").document["chunks"]
        if block["document"] == SERVICE_ACCOUNT_PATH
    ][:1]
    assert number > CHUNKS_SHOWN
    assert "more chunks were found" in shown
