"""Whatever is edited, the sweep marks what the oracle finds, and rows that need not change stay.

Every example starts from the first tree again, in the database that the one before left: going
back is an edit like any other.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from tests.replay.nights import Replay
from tests.replay.synthetic import (
    Edit,
    append,
    create,
    delete,
    move,
    page,
    paragraph,
    restore_tree,
    rewrite,
    section,
    swap,
)

PATHS = (
    *("guide/install.md", "guide/usage.md", "guide/big.md", "guide/log.md"),
    *("old/one.md", "old/two.md", "notes/ant.md", "notes/cat.md", "notes/gnu.md", "notes/hog.md"),
)

few_examples = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def _typo(number: int) -> Callable[[str], str]:
    """Return a change of a letter inside of some word of some paragraph."""

    def change(content: str) -> str:
        places = [
            at
            for at in range(1, len(content) - 1)
            if content[at - 1 : at + 2].isalpha() and _in_paragraph(content, at)
        ]
        at = places[number % len(places)]
        return content[:at] + ("y" if content[at] != "y" else "z") + content[at + 1 :]

    return change


def _in_paragraph(content: str, at: int) -> bool:
    line = content[content.rfind("\n", 0, at) + 1 :].split("\n", 1)[0]
    return line.endswith(".")


def _insert(number: int, addition: str) -> Callable[[str], str]:
    """Return an insertion before some section."""

    def change(content: str) -> str:
        first, *others = content.split("\n## ")
        others.insert(number % (len(others) + 1), addition.removeprefix("## "))
        return "\n## ".join((first, *others))

    return change


def _cut(number: int) -> Callable[[str], str]:
    """Return the removal of some section, where there are several."""

    def change(content: str) -> str:
        first, *others = content.split("\n## ")
        if len(others) > 1:
            del others[number % len(others)]
        return "\n## ".join((first, *others))

    return change


def _present(edit: Edit) -> Edit:
    """Return the edit for a tree from which earlier ones may have taken its file."""

    def attempt(folder: Path) -> None:
        try:
            edit(folder)
        except FileNotFoundError:
            return

    return attempt


_paths = st.sampled_from(PATHS)
_numbers = st.integers(0, 999)
_names = st.sampled_from(["apple", "birch", "cedar"])

edits = st.one_of(
    st.builds(lambda path, number: rewrite(path, _typo(number)), _paths, _numbers),
    st.builds(
        lambda path, number, name: rewrite(path, _insert(number, section(name, name, "extra"))),
        _paths,
        _numbers,
        _names,
    ),
    st.builds(lambda path, number: rewrite(path, _cut(number)), _paths, _numbers),
    st.builds(lambda path, name: append(path, paragraph(name)), _paths, _names),
    st.builds(delete, _paths),
    st.builds(lambda path, name: move(path, f"{name}/{Path(path).name}"), _paths, _names),
    st.builds(swap, _paths, _paths),
    st.builds(lambda name: create(f"notes/{name}.md", page(name, paragraph(name))), _names),
).map(_present)


@few_examples
@given(nights=st.lists(st.lists(edits, min_size=1, max_size=3), min_size=1, max_size=3))
def test_random_nights_agree_with_the_oracle(run: Replay, nights: list[list[Edit]]) -> None:
    restore_tree(run.folder)
    for number, night in enumerate([[], *nights]):
        for edit in night:
            edit(run.folder)
        report = run.take_over(number)
        run.compile(report)
        assert report.faults == []


@few_examples
@given(path=_paths, number=_numbers)
def test_a_typo_changes_its_chunk_and_its_section_and_nothing_else(
    run: Replay, path: str, number: int
) -> None:
    restore_tree(run.folder)
    run.take_over(1)
    before = _rows(run)
    rewrite(path, _typo(number))(run.folder)
    report = run.take_over(2)
    after = _rows(run)
    assert before["topic_chunk"] == after["topic_chunk"]
    assert before["chunk"].keys() == after["chunk"].keys()
    changed = [key for key, row in after["chunk"].items() if row != before["chunk"][key]]
    kinds = sorted(after["chunk"][key]["parent_id"] is None for key in changed)
    assert kinds == [False, True]
    assert before["embedding"].items() <= after["embedding"].items()
    assert len(report.marked) == 1
    assert report.reasons == {"content": 1}


@few_examples
@given(
    folder=st.sampled_from(["", "guide/", "notes/", "old/", "new/"]),
    name=st.sampled_from(["aa", "big", "cow", "index", "part-1", "zz"]),
    size=st.integers(1, 14),
)
def test_adding_a_document_never_changes_the_key_of_another_topic(
    run: Replay, folder: str, name: str, size: int
) -> None:
    restore_tree(run.folder)
    run.take_over(1)
    before = {page.slug: page for page in run.observe()}
    added = page("Added", section("New", *(f"{name}{number}" for number in range(size))))
    create(f"{folder}{name}-added.md", added)(run.folder)
    run.take_over(2)
    after = {page.slug: page for page in run.observe()}
    assert before.keys() <= after.keys()
    for slug, known in before.items():
        assert set(known.sayings) & set(after[slug].sayings), slug
        if not known.folder.startswith(folder.rstrip("/") or "."):
            assert known.sayings == after[slug].sayings


def _rows(run: Replay) -> Mapping[str, Mapping[str, dict[str, object]]]:
    """Return every row of the tables that an edit may touch, by table and key."""
    keys = {"chunk": "id", "topic_chunk": "chunk_id", "embedding": "hash"}
    with run.app.engine.connect() as connection:
        return {
            table: {
                str(row.key): row.values
                for row in connection.execute(
                    text(
                        f"SELECT {key} AS key, to_jsonb(t) AS values FROM {table} t "  # noqa: S608
                        "WHERE collection_id = :id"
                    ),
                    {"id": run.collection.id},
                )
            }
            for table, key in keys.items()
        }
