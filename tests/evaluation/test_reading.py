from collections.abc import Mapping
from pathlib import Path

import pytest

from llmwiki.errors import UsageError
from llmwiki.evaluation.dataset import Judgment
from llmwiki.evaluation.reading import read_dataset
from tests.evaluation.conftest import CORPUS, JUDGMENTS, QUERIES, DatasetFolder

HEADER = "query-id\tcorpus-id\tscore\n"


def test_a_dataset_is_read_whole(dataset_folder: DatasetFolder) -> None:
    dataset = read_dataset(dataset_folder())
    assert dataset.name == "small"
    assert [document.title for document in dataset.documents] == ["Backups", "Alerts", "Colours"]
    assert [query.id for query in dataset.queries] == ["q1", "q2"]
    assert dataset.left_out == 0


def test_without_a_family_column_each_relevant_document_is_a_family(
    dataset_folder: DatasetFolder,
) -> None:
    dataset = read_dataset(dataset_folder())
    assert dataset.required_families("q1") == {"backup"}
    assert dataset.required_families("q2") == {"alerts", "backup"}


def test_families_are_those_of_their_column_and_an_empty_cell_requires_nothing(
    dataset_folder: DatasetFolder,
) -> None:
    rows = "q1\tbackup\t1\tpolicy\nq1\talerts\t1\tpolicy\nq1\tcolours\t1\t\nq2\talerts\t1\t\n"
    folder = dataset_folder(judgments="query-id\tcorpus-id\tscore\tfamily\n" + rows)
    dataset = read_dataset(folder)
    assert dataset.required_families("q1") == {"policy"}
    assert dataset.required_families("q2") == frozenset()
    assert dataset.judgments["q2"] == (Judgment(document_id="alerts", score=1, family=None),)


def test_one_document_may_witness_two_families(dataset_folder: DatasetFolder) -> None:
    rows = "q1\tbackup\t1\tpolicy\nq1\tbackup\t1\tschedule\n"
    folder = dataset_folder(judgments="query-id\tcorpus-id\tscore\tfamily\n" + rows)
    assert read_dataset(folder).required_families("q1") == {"policy", "schedule"}


def test_an_ordinary_dataset_requires_no_families(dataset_folder: DatasetFolder) -> None:
    dataset = read_dataset(dataset_folder(), ordinary=True)
    assert dataset.ordinary
    assert dataset.required_families("q2") == frozenset()


def test_a_judgment_of_no_worth_requires_nothing(dataset_folder: DatasetFolder) -> None:
    folder = dataset_folder(judgments=JUDGMENTS + "q1\tcolours\t0\nq1\talerts\t-1\n")
    assert read_dataset(folder).required_families("q1") == {"backup"}


def test_questions_without_a_relevant_document_are_counted_and_left_out(
    dataset_folder: DatasetFolder,
) -> None:
    queries = [*QUERIES, {"_id": "q3", "text": "Unjudged?"}, {"_id": "q4", "text": "Nothing?"}]
    folder = dataset_folder(queries=queries, judgments=JUDGMENTS + "q4\tbackup\t0\n")
    dataset = read_dataset(folder)
    assert [query.id for query in dataset.queries] == ["q1", "q2"]
    assert dataset.left_out == 2


def test_titles_and_metadata_may_be_missing_and_blank_lines_mean_nothing(
    dataset_folder: DatasetFolder,
) -> None:
    first = {"_id": "backup", "text": "x", "metadata": {"version": "2"}}
    corpus: list[Mapping[str, object] | str] = [first, "", *CORPUS[1:]]
    dataset = read_dataset(dataset_folder(corpus=corpus))
    assert dataset.documents[0].title == ""
    assert dataset.documents[0].metadata == {"version": "2"}
    assert dataset.documents[1].metadata == {}


def test_windows_lines_and_a_byte_order_mark_are_read(dataset_folder: DatasetFolder) -> None:
    folder = dataset_folder()
    for file in folder.iterdir():
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert read_dataset(folder).required_families("q2") == {"alerts", "backup"}


def test_the_corpus_may_be_a_collection_that_exists(dataset_folder: DatasetFolder) -> None:
    folder = dataset_folder(corpus=None, judgments=HEADER + "q1\tguide/backup.md\t1\n")
    dataset = read_dataset(folder, with_corpus=False)
    assert dataset.documents == ()
    assert dataset.relevant_documents() == {"guide/backup.md"}


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"corpus": []}, "corpus.jsonl is empty"),
        ({"corpus": None}, "corpus.jsonl does not exist"),
        ({"corpus": [*CORPUS, "{"]}, "corpus.jsonl, line 4 is not valid JSON"),
        ({"corpus": [*CORPUS, "[" * 100_000]}, "corpus.jsonl, line 4 is not valid JSON"),
        ({"corpus": ["[1]"]}, "corpus.jsonl, line 1 is no JSON object"),
        ({"corpus": [*CORPUS, CORPUS[1]]}, "line 4 repeats the _id 'alerts' of "),
        ({"corpus": [{"_id": 7, "text": "x"}]}, "line 1: _id is no text"),
        ({"corpus": [{"text": "x"}]}, "line 1: _id is missing"),
        ({"corpus": [{"_id": " ", "text": "x"}]}, "line 1: the _id ' ' is empty"),
        ({"corpus": [{"_id": "a\nb", "text": "x"}]}, "cannot be printed on one line"),
        ({"corpus": [{"_id": "a"}]}, "line 1: text is missing"),
        ({"corpus": ['{"_id": "a", "text": "\\ud800"}']}, "half of a surrogate pair"),
        ({"corpus": [{"_id": "a", "text": "x", "metadata": [1]}]}, "metadata is no JSON object"),
        ({"queries": []}, "queries.jsonl is empty"),
        ({"queries": [{"_id": "q1", "text": " "}]}, "queries.jsonl, line 1: the question is empty"),
        ({"queries": [*QUERIES, QUERIES[0]]}, "queries.jsonl, line 3 repeats the _id 'q1' of "),
        ({"judgments": None}, "qrels.tsv does not exist"),
        ({"judgments": ""}, "qrels.tsv is empty"),
        ({"judgments": HEADER}, "holds no judgment below its header"),
        ({"judgments": "q1\tbackup\t1\n"}, "qrels.tsv, line 1 is no header"),
        ({"judgments": HEADER + "q1\tbackup\n"}, "line 2: 2 cells where the header has 3"),
        ({"judgments": HEADER + "q1\tbackup\t0.5\n"}, "line 2: the score '0.5' is no whole number"),
        ({"judgments": HEADER + "q9\tbackup\t1\n"}, "line 2: no question has the id 'q9'"),
        ({"judgments": HEADER + "q1\tnone\t1\n"}, "line 2: no document has the id 'none'"),
        ({"judgments": JUDGMENTS + "q1\tbackup\t0\n"}, "line 5 repeats the judgment of "),
        ({"judgments": HEADER + "q1\tbackup\t0\n"}, "no question has a document with a score"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(
    dataset_folder: DatasetFolder, files: dict[str, object], told: str
) -> None:
    folder = dataset_folder(**files)  # type: ignore[arg-type]
    with pytest.raises(UsageError) as raised:
        read_dataset(folder)
    assert told in str(raised.value)


def test_a_file_that_is_no_text_is_told(dataset_folder: DatasetFolder) -> None:
    folder = dataset_folder()
    (folder / "queries.jsonl").write_bytes(b'{"_id": "\xff"}\n')
    with pytest.raises(UsageError, match=r"queries\.jsonl is not UTF-8"):
        read_dataset(folder)


def test_a_folder_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        read_dataset(tmp_path / "nowhere")
