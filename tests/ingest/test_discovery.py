import os
import unicodedata
from pathlib import Path

import pytest

from llmwiki.errors import UsageError
from llmwiki.ingest.discovery import Discovery, discover


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"text of {name}")


def paths(discovery: Discovery) -> list[str]:
    return [file.path for file in discovery.files]


def problems(discovery: Discovery) -> list[tuple[str, str]]:
    return [(problem.path, problem.problem) for problem in discovery.problems]


def test_documents_are_listed_by_path_with_size_and_place(tmp_path: Path) -> None:
    make(
        tmp_path, "b.md", "a/z.RST", "a/b/c.txt", "d.html", "e.htm", "f.PDF", "g.mdx", "h.markdown"
    )
    found = discover([tmp_path])
    assert paths(found) == [
        "a/b/c.txt", "a/z.RST", "b.md", "d.html", "e.htm", "f.PDF", "g.mdx", "h.markdown",
    ]  # fmt: skip
    assert found.files[2].location == tmp_path / "b.md"
    assert found.files[2].size == len("text of b.md")
    assert (found.problems, found.ignored) == ((), 0)


def test_other_files_are_counted(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.png", "LICENSE", "c/d.py", "md")
    found = discover([tmp_path])
    assert (paths(found), found.ignored) == (["a.md"], 4)


def test_hidden_names_and_caches_are_not_looked_at(tmp_path: Path) -> None:
    make(tmp_path, "a.md", ".b.md", ".git/c.md", "node_modules/d.md", "x/__pycache__/e.md")
    found = discover([tmp_path])
    assert (paths(found), found.ignored) == (["a.md"], 0)


def test_a_hidden_root_is_read_as_it_was_named(tmp_path: Path) -> None:
    make(tmp_path, ".notes/a.md")
    assert paths(discover([tmp_path / ".notes"])) == ["a.md"]


def test_an_empty_folder_gives_nothing(tmp_path: Path) -> None:
    assert discover([tmp_path]) == Discovery(files=(), problems=(), ignored=0)


def test_several_roots_begin_the_paths_with_their_names(tmp_path: Path) -> None:
    make(tmp_path, "one/a.md", "two/a.md", "three.md")
    roots = [tmp_path / "two", tmp_path / "one", tmp_path / "three.md"]
    assert paths(discover(roots)) == ["one/a.md", "three.md", "two/a.md"]


def test_a_file_can_be_the_root(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.md")
    assert paths(discover([tmp_path / "a.md"])) == ["a.md"]


def test_a_relative_root_is_known_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "one/a.md", "two/b.md")
    monkeypatch.chdir(tmp_path / "one")
    assert paths(discover([Path(), Path("../two")])) == ["one/a.md", "two/b.md"]
    assert paths(discover([Path()])) == ["a.md"]


def test_no_root_and_missing_roots_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder is given"):
        discover([])
    with pytest.raises(UsageError, match="nowhere does not exist"):
        discover([tmp_path / "nowhere"])
    with pytest.raises(UsageError, match="cannot be read"):
        discover([tmp_path / ("x" * 300)])
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(UsageError, match="neither a folder nor a file"):
        discover([tmp_path / "pipe.md"])


@pytest.mark.parametrize(
    ("first", "second"),
    [("a", "a"), ("a", "a/b"), ("a/b", "a"), ("a", "link"), ("a", "a/b/c.md"), ("link/b", "a")],
)
def test_overlapping_roots_are_refused_by_name(tmp_path: Path, first: str, second: str) -> None:
    make(tmp_path, "a/b/c.md", "a-b/c.md")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with pytest.raises(UsageError, match="overlap") as caught:
        discover([tmp_path / "a-b", tmp_path / first, tmp_path / second])
    assert str(tmp_path / first) in str(caught.value)
    assert str(tmp_path / second) in str(caught.value)


def test_roots_of_the_same_name_are_refused(tmp_path: Path) -> None:
    make(tmp_path, "one/docs/a.md", "two/docs/a.md")
    with pytest.raises(UsageError, match=r"one/docs and .*two/docs have the same name"):
        discover([tmp_path / "one/docs", tmp_path / "two/docs"])


def test_links_out_of_the_tree_are_followed(tmp_path: Path) -> None:
    make(tmp_path, "docs/a.md", "elsewhere/b.md", "elsewhere/deep/c.md", "d.md")
    (tmp_path / "docs/folder").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "docs/file.md").symlink_to(tmp_path / "d.md")
    found = discover([tmp_path / "docs"])
    assert paths(found) == ["a.md", "file.md", "folder/b.md", "folder/deep/c.md"]
    assert found.problems == ()


def test_a_link_to_what_is_found_anyway_is_skipped(tmp_path: Path) -> None:
    make(tmp_path, "docs/z/real.md", "other/b.md")
    (tmp_path / "docs/a-link").symlink_to(tmp_path / "docs/z")
    (tmp_path / "docs/b-link.md").symlink_to(tmp_path / "docs/z/real.md")
    (tmp_path / "docs/c-link").symlink_to(tmp_path / "other")
    roots = [tmp_path / "docs", tmp_path / "other"]
    assert paths(discover(roots)) == ["docs/z/real.md", "other/b.md"]


def test_two_links_to_one_folder_give_its_files_once(tmp_path: Path) -> None:
    make(tmp_path, "docs/a.md", "far/deep/b.md")
    (tmp_path / "docs/one").symlink_to(tmp_path / "far/deep")
    (tmp_path / "docs/two").symlink_to(tmp_path / "far")
    assert paths(discover([tmp_path / "docs"])) == ["a.md", "one/b.md"]


def test_loops_end(tmp_path: Path) -> None:
    make(tmp_path, "docs/sub/a.md", "outside/secret.md", "far/b.md")
    (tmp_path / "docs/self").symlink_to(tmp_path / "docs")
    (tmp_path / "docs/sub/up").symlink_to(tmp_path)
    (tmp_path / "docs/far").symlink_to(tmp_path / "far")
    (tmp_path / "far/back").symlink_to(tmp_path / "far")
    (tmp_path / "far/home").symlink_to(tmp_path / "docs/sub")
    found = discover([tmp_path / "docs"])
    assert (paths(found), found.problems) == (["far/b.md", "sub/a.md"], ())


def test_a_dangling_link_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a.md").symlink_to(tmp_path / "gone")
    (tmp_path / "b.md").symlink_to(tmp_path / "b.md")
    assert problems(discover([tmp_path])) == [
        ("a.md", "is a link that leads nowhere"),
        ("b.md", "is a link that leads nowhere"),
    ]


def test_names_that_differ_in_case_are_two_documents(tmp_path: Path) -> None:
    make(tmp_path, "Readme.md", "README.md")
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("this file system ignores case")
    assert paths(discover([tmp_path])) == ["README.md", "Readme.md"]


def test_of_names_that_differ_in_unicode_form_the_first_is_kept(tmp_path: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, "é/ü.md") for form in ("NFC", "NFD"))
    make(tmp_path, composed, decomposed)
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("this file system normalises names")
    found = discover([tmp_path])
    assert paths(found) == [composed]
    assert found.files[0].location == tmp_path / min(composed, decomposed, key=os.fsencode)
    ((path, problem),) = problems(found)
    assert path == composed
    assert "is the name of two files" in problem


def test_a_decomposed_name_is_reported_composed(tmp_path: Path) -> None:
    make(tmp_path, unicodedata.normalize("NFD", "é.md"))
    assert paths(discover([tmp_path])) == ["é.md"]


def test_names_that_are_not_utf_8_are_problems(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    for name in (b"caf\xe9.md", b"fa\xe7ade.png"):
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_text("x")  # noqa: PTH118
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xe9"))
    make(folder, "b.md")
    found = discover([tmp_path])
    assert (paths(found), found.ignored) == (["a.md"], 1)
    assert problems(found) == [
        ("caf\\xe9.md", "has a name that is not valid UTF-8"),
        ("d\\xe9", "has a name that is not valid UTF-8"),
    ]


def test_what_is_no_regular_file_is_a_problem(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    make(tmp_path, "folder.md/a.md")
    found = discover([tmp_path])
    assert paths(found) == ["folder.md/a.md"]
    assert problems(found) == [("pipe.md", "is not a regular file")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list everything")
def test_an_unreadable_folder_is_a_problem(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b/c.md")
    (tmp_path / "b").chmod(0)
    found = discover([tmp_path])
    (tmp_path / "b").chmod(0o700)
    assert paths(found) == ["a.md"]
    assert found.problems[0].path == "b"


def test_a_folder_that_cannot_be_listed_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "a.md", "b/c.md")
    list_folder = os.scandir

    def refuse(folder: Path) -> object:
        if Path(folder).name == "b":
            raise PermissionError(13, "Permission denied")
        return list_folder(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    found = discover([tmp_path])
    assert paths(found) == ["a.md"]
    assert problems(found) == [("b", "cannot be listed: Permission denied")]


def test_a_thousand_nested_folders_are_walked(tmp_path: Path) -> None:
    here, depth, made = Path.cwd(), 1100, 0
    os.chdir(tmp_path)
    try:
        for _ in range(depth):
            Path("d").mkdir()
            os.chdir("d")
            made += 1
        make(Path(), "deep.md")
        assert paths(discover([tmp_path])) == ["d/" * depth + "deep.md"]
    finally:
        Path("deep.md").unlink(missing_ok=True)  # pytest removes folders by recursion
        for _ in range(made):
            os.chdir("..")
            Path("d").rmdir()
        os.chdir(here)
