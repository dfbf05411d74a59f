import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.errors import ConfigurationError
from llmwiki.retrieval.evidence.plan_files import load_plans, plans_folder
from tests.support.cluster_docs import PLAN


def write(folder: Path, text: str, name: str = "a.yaml") -> None:
    (folder / name).write_text(text, encoding="utf-8")


def problems(folder: Path) -> list[str]:
    return [str(problem) for problem in load_plans(folder).problems]


def test_a_plan_is_read_whole(folder: Path) -> None:
    write(folder, PLAN)
    library = load_plans(folder)
    assert library.problems == ()
    [plan] = library.plans
    assert plan.name == "workload-identity"
    assert [len(group.alternatives) for group in plan.when] == [3, 4]
    assert [family.name for family in plan.families] == ["Secret", "ServiceAccount", "RBAC"]
    secret = plan.families[0]
    assert (secret.authority, secret.min, secret.required) == ("official", 1, True)
    assert str(secret.place) == "plans/a.yaml:6"


def test_scalars_stay_the_text_that_was_written(folder: Path) -> None:
    write(
        folder,
        "name: no\nwhen: [on, 1.10]\nfamilies:\n- name: 007\n  version: 1.10\n  required: no\n"
        "  match: {attributes: {kind: yes}}\n",
    )
    [plan] = load_plans(folder).plans
    [family] = plan.families
    assert plan.name == "no"
    assert [str(group.alternatives[0]) for group in plan.when] == ["on", "1 10"]
    assert (family.name, str(family.version), family.required) == ("007", "1.10", False)
    assert family.match.attributes == {"kind": ("yes",)}


BROKEN = {
    "unknown-key": (
        "name: a\nwhen: [b]\nfamilies:\n- name: f\n  match:\n    sorce: c\n",
        "plans/a.yaml:6: families.0.match: unknown key `sorce`",
    ),
    "missing-key": ("name: a\nwhen: [b]\n", "plans/a.yaml:1: the key `families` is missing"),
    "bad-expression": (
        "name: a\nwhen:\n- b\n- regex: '('\nfamilies:\n- name: f\n  match: {source: c}\n",
        "plans/a.yaml:4: when.1.regex: bad expression '(': missing )",
    ),
    "look-around": (
        "name: a\nwhen: [b]\nfamilies:\n- name: f\n  match:\n    heading: {regex: '(?=x)'}\n",
        "plans/a.yaml:6: families.0.match.heading.regex: bad expression",
    ),
    "no-word": (
        "name: a\nwhen:\n- ['!!']\nfamilies:\n- name: f\n  match: {source: c}\n",
        "plans/a.yaml:3: when.0.0: '!!' holds no word",
    ),
    "empty-match": (
        "name: a\nwhen: [b]\nfamilies:\n- name: f\n  match: {}\n",
        "plans/a.yaml:5: families.0.match: the match is empty",
    ),
    "empty-source": (
        "name: a\nwhen: [b]\nfamilies:\n- name: f\n  match:\n    source:\n",
        "plans/a.yaml:6: families.0.match.source: Input should be a valid tuple",
    ),
    "empty-when": (
        "name: a\nwhen: []\nfamilies:\n- name: f\n  match: {source: c}\n",
        "plans/a.yaml:2: when: Tuple should have at least 1 item",
    ),
    "unknown-tier": (
        "name: a\nwhen: [b]\nfamilies:\n- name: f\n  match: {source: c}\n  authority: high\n",
        "plans/a.yaml:6: no tier of authority is named 'high'",
    ),
    "bad-version": (
        "name: a\nwhen: [b]\nfamilies:\n- name: f\n  match: {source: c}\n  version: newest\n",
        "plans/a.yaml:6: families.0.version: 'newest' is no version constraint",
    ),
    "bad-min": (
        "name: a\nwhen: [b]\nfamilies:\n- name: f\n  match: {source: c}\n  min: 0\n",
        "plans/a.yaml:6: families.0.min: Input should be greater than or equal to 1",
    ),
    "same-family-twice": (
        "name: a\nwhen: [b]\nfamilies: [{name: f, match: &m {source: c}}, {name: F, match: *m}]",
        "plans/a.yaml:1: two families are named 'f'",
    ),
    "same-key-twice": (
        "name: a\nwhen: [b]\nname: c\n",
        "plans/a.yaml:3: the key 'name' stands here for the second time",
    ),
    "tab": ("name: a\nwhen:\n\t- b\n", "plans/a.yaml:3: no valid YAML"),
    "unclosed": ("name: [a\n", "plans/a.yaml:2: no valid YAML"),
    "empty-documents": ("---\n---\n", "plans/a.yaml:1: the file is empty"),
    "tag": ("name: !!python/object:os.system [a]\n", "plans/a.yaml:1: name: Input should be"),
    "empty": ("", "plans/a.yaml:1: the file is empty"),
    "comment": ("# nothing yet\n", "plans/a.yaml:1: the file is empty"),
    "list": ("- a\n", "plans/a.yaml:1: a plan is a mapping"),
    "scalar": ("a\n", "plans/a.yaml:1: a plan is a mapping"),
    "list-as-key": ("? [a]\n: b\n", "plans/a.yaml:1: a key must be a word"),
    "alias-of-itself": ("name: &a [*a]\n", "plans/a.yaml:1: values are nested more than"),
    "deep": ("name: " + "[" * 90_000, "plans/a.yaml:1: the values are nested too deep"),
    "large": ("#" * 300_000, "plans/a.yaml:1: the file is larger than"),
    "nul": (
        'name: a\nwhen: [b]\nfamilies:\n- name: f\n  match: {source: c}\n  rescue: "a\\0"\n',
        "plans/a.yaml:6: a value holds a NUL",
    ),
    "half-a-pair": (
        'name: a\nwhen: [b]\nfamilies:\n- name: f\n  match:\n    attributes: {"\\uD800": c}\n',
        "plans/a.yaml:6: a value holds a NUL or half of a surrogate pair",
    ),
    "control-character": ("name: a\x01\n", "plans/a.yaml:1: no valid YAML"),
}


@pytest.mark.parametrize(("text", "problem"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_is_told_with_file_and_line(folder: Path, text: str, problem: str) -> None:
    write(folder, text)
    library = load_plans(folder)
    assert library.plans == ()
    assert str(library.problems[0]).startswith(problem)


def test_a_file_of_aliases_of_aliases_is_bounded(folder: Path) -> None:
    lines = ["l0: &l0 [a, a, a, a, a, a, a, a, a, a]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12)]
    write(folder, "\n".join(lines))
    [problem] = problems(folder)
    assert "more than 10000 values" in problem


def test_every_fault_of_a_file_is_told_at_once(folder: Path) -> None:
    write(folder, "name: ''\nwhen: ['?']\nfamilies:\n- name: f\n  match: {x: y}\n")
    assert len(problems(folder)) == 3


def test_a_broken_file_leaves_the_others_in_use(folder: Path) -> None:
    write(folder, PLAN, "a.yaml")
    write(folder, "nonsense", "b.yml")
    library = load_plans(folder)
    assert [plan.name for plan in library.plans] == ["workload-identity"]
    assert len(library.problems) == 1
    with pytest.raises(ConfigurationError, match=r"plans/b\.yml:1: a plan is a mapping"):
        library.require_sound()


def test_a_file_may_hold_several_plans(folder: Path) -> None:
    second = PLAN.replace("workload-identity", "second")
    write(folder, f"# drafts\n---\n{PLAN}---\nname: broken\n---\n{second}---\n")
    library = load_plans(folder)
    assert [(plan.name, plan.place.line) for plan in library.plans] == [
        ("workload-identity", 3),
        ("second", 21),
    ]
    assert [problem.place.line for problem in library.problems] == [19, 19]


def test_the_second_plan_of_a_name_is_told_and_left_out(folder: Path) -> None:
    write(folder, PLAN, "a.yaml")
    write(folder, PLAN.replace("workload-identity", "Workload-Identity"), "b.yaml")
    library = load_plans(folder)
    assert [plan.place.file for plan in library.plans] == ["plans/a.yaml"]
    assert "stands in plans/a.yaml already" in str(library.problems[0])


def test_a_file_that_is_not_utf8_is_told_with_its_line(folder: Path) -> None:
    (folder / "a.yaml").write_bytes(b"name: a\nwhen: [\xff]\n")
    assert problems(folder) == ["plans/a.yaml:2: the file is not UTF-8"]


def test_a_byte_order_mark_means_nothing(folder: Path) -> None:
    (folder / "a.yaml").write_bytes(b"\xef\xbb\xbf" + PLAN.encode())
    assert problems(folder) == []


def test_a_folder_that_does_not_exist_has_no_plans(tmp_path: Path) -> None:
    library = load_plans(tmp_path / "nowhere")
    assert (library.plans, library.problems) == ((), ())


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "plans").write_text("")
    assert "cannot be read" in problems(tmp_path / "plans")[0]


def test_a_folder_in_the_place_of_a_file_is_told(folder: Path) -> None:
    (folder / "a.yaml").mkdir()
    assert "cannot be read" in problems(folder)[0]


def test_a_pipe_in_the_place_of_a_file_is_told_and_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "a.yaml")
    assert problems(folder) == [
        "plans/a.yaml:1: cannot be read: it is a pipe, which has no end",
    ]


def test_a_name_that_is_not_utf8_can_be_printed(folder: Path) -> None:
    (folder / os.fsdecode(b"b\xff.yaml")).write_text("- a\n")
    assert problems(folder) == [
        "plans/b?.yaml:1: a plan is a mapping with `name`, `when` and `families`",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_told(folder: Path) -> None:
    folder.chmod(0)
    try:
        assert "cannot be read" in problems(folder)[0]
    finally:
        folder.chmod(0o700)


def test_other_files_are_passed_over(folder: Path) -> None:
    write(folder, "nonsense", "README.md")
    write(folder, "nonsense", ".a.yaml")
    assert problems(folder) == []


def test_the_folder_stands_beside_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLMWIKI_CONFIG", str(tmp_path / "etc" / "llmwiki.toml"))
    assert plans_folder(Path("plans")) == tmp_path / "etc" / "plans"
    assert plans_folder(tmp_path / "mine") == tmp_path / "mine"


@settings(deadline=None)
@given(text=st.text(max_size=300))
def test_no_text_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("plans")
    (folder / "a.yaml").write_text(text, encoding="utf-8", errors="replace")
    library = load_plans(folder)
    assert bool(library.plans) != bool(library.problems)
