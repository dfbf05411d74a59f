from collections import Counter

from llmwiki.domain import DocumentId
from llmwiki.ingest.moves import match_moves


def test_a_file_with_the_same_chunks_under_a_new_path_is_the_same_document() -> None:
    assert match_moves({DocumentId(1): Counter("abc")}, {"new.md": Counter("abc")}) == {"new.md": 1}


def test_a_move_that_also_edits_is_recognised_while_half_of_the_chunks_are_shared() -> None:
    assert match_moves({DocumentId(1): Counter("abcd")}, {"n.md": Counter("abxy")}) == {"n.md": 1}
    assert match_moves({DocumentId(1): Counter("abcd")}, {"n.md": Counter("axyz")}) == {}


def test_each_document_is_continued_once_and_by_the_closest_file() -> None:
    gone = {DocumentId(1): Counter("abcd"), DocumentId(2): Counter("wxyz")}
    new = {"far.md": Counter("abXY"), "near.md": Counter("abcY"), "other.md": Counter("wxyz")}
    assert match_moves(gone, new) == {"near.md": 1, "other.md": 2}


def test_files_without_chunks_are_never_matched() -> None:
    assert match_moves({DocumentId(1): Counter()}, {"empty.md": Counter()}) == {}


def test_many_files_alike_are_paired_one_by_one() -> None:
    gone = {DocumentId(number): Counter("abc") for number in range(5000)}
    new = {f"{number:05}.md": Counter("abc") for number in range(5000)}
    moves = match_moves(gone, new)
    assert sorted(moves.values()) == sorted(gone)
    assert moves["00000.md"] == 0
