import json
from typing import Any

import pytest

from llmwiki.compiler.batch.requests import FileLimits, file_content, split_files
from llmwiki.compiler.batch.results import RequestResult, read_results
from llmwiki.errors import InvalidAnswerError
from llmwiki.store.sent_requests import SentRequest


def request(name: str, length: int = 9) -> SentRequest:
    return SentRequest(custom_id=name, call_id=None, line="x" * length, pages=())


def names(files: list[tuple[SentRequest, ...]]) -> list[str]:
    return ["".join(each.custom_id for each in file) for file in files]


def completed(custom_id: str, text: object = "hello", **choice: object) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    body = {
        "choices": [{"message": message, "finish_reason": "stop", **choice}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    }
    return {"custom_id": custom_id, "response": {"status_code": 200, "body": body}, "error": None}


def result_of(line: dict[str, Any]) -> RequestResult:
    return read_results([json.dumps({**line, "custom_id": "a"}).encode()], {"a"}).by_id["a"]


def test_a_file_holds_no_more_requests_than_the_service_takes() -> None:
    requests = [request(name) for name in "abcde"]
    assert names(list(split_files(requests, FileLimits(max_requests=2)))) == ["ab", "cd", "e"]


def test_a_file_is_no_larger_than_the_service_takes() -> None:
    requests = [request(name, length) for name, length in zip("abcd", (9, 9, 9, 30), strict=True)]
    files = list(split_files(requests, FileLimits(max_bytes=20)))
    assert names(files) == ["ab", "c", "d"]
    assert len(file_content(files[0])) == 20


def test_no_requests_make_no_file() -> None:
    assert list(split_files([], FileLimits())) == []


def test_the_limits_are_those_of_the_service() -> None:
    assert FileLimits() == FileLimits(max_requests=50_000, max_bytes=200_000_000)


def test_results_are_found_by_their_id_in_any_order_and_in_both_files() -> None:
    good = b"\n".join(json.dumps(completed(name, name)).encode() for name in "ba")
    bad = json.dumps({"custom_id": "c", "error": {"code": "x", "message": "no"}}).encode()
    results = read_results([good, bad + b"\n"], {"a", "b", "c"})
    assert {name: result.text for name, result in results.by_id.items()} == {
        "a": "a",
        "b": "b",
        "c": "",
    }
    assert results.ignored == 0


def test_the_first_of_several_results_counts() -> None:
    lines = [json.dumps(completed("a", text)).encode() for text in ("one", "two")]
    error = json.dumps({"custom_id": "a", "error": {"message": "no"}}).encode()
    results = read_results([b"\n".join(lines), error], {"a"})
    assert results.by_id["a"].text == "one"
    assert results.ignored == 2


def test_a_line_that_is_broken_is_ignored() -> None:
    content = json.dumps(completed("a")).encode() + b'\n{"custom_id": "b", \n[1]\n\xff\xfe\n'
    results = read_results([content], {"a", "b"})
    assert (set(results.by_id), results.ignored) == ({"a"}, 3)


def test_a_file_without_any_line_of_json_is_not_taken_for_missing_answers() -> None:
    with pytest.raises(InvalidAnswerError):
        read_results([b"<html>\n</html>"], {"a"})


def test_an_empty_file_is_a_file_without_answers() -> None:
    assert read_results([b"", b"\n"], {"a"}).by_id == {}


@pytest.mark.parametrize(
    ("line", "outcome", "is_failure"),
    [
        ({"error": {"code": "batch_expired", "message": "late"}}, "expired", False),
        ({"error": {"code": "batch_cancelled", "message": "stop"}}, "cancelled", False),
        ({"error": {"code": "other", "message": "no"}}, "request-failed", True),
        ({"error": "no"}, "request-failed", True),
        ({"response": {"status_code": 400, "body": {"error": {}}}}, "http-400", True),
        ({"response": {"status_code": 429, "body": {}}}, "http-429", False),
        ({"response": {"status_code": 500, "body": "oops"}}, "http-500", True),
        ({"response": {"status_code": 200, "body": {"error": {"message": "no"}}}},
         "request-failed", True),
        ({"response": {"status_code": 200, "body": {"choices": []}}}, "unusable-answer", True),
        ({"response": None, "error": None}, "unusable-answer", True),
        ({}, "unusable-answer", True),
        (completed("a", None), "unusable-answer", True),
        (completed("a", "  "), "unusable-answer", True),
        (completed("a", "x", finish_reason="content_filter"), "unusable-answer", True),
        (completed("a", message={"refusal": "I will not"}), "unusable-answer", True),
        (completed("a", "x", finish_reason="length"), "answered", False),
    ],
)  # fmt: skip
def test_what_came_of_a_request_is_told_by_its_line(
    line: dict[str, Any], outcome: str, is_failure: bool
) -> None:
    result = result_of(line)
    assert (result.outcome, result.is_failure) == (outcome, is_failure)
    assert bool(result.text) == (outcome == "answered")
    assert bool(result.problem) == (outcome != "answered")


def test_the_cost_of_an_answer_is_read_and_nonsense_is_none() -> None:
    line = completed("a")
    assert (result_of(line).input_tokens, result_of(line).output_tokens) == (7, 3)
    line["response"]["body"]["usage"] = {"prompt_tokens": "many", "completion_tokens": -1}
    assert (result_of(line).input_tokens, result_of(line).output_tokens) == (0, 0)


def test_a_problem_is_a_text_that_the_database_takes() -> None:
    result = result_of({"error": {"message": "bad \x00 and \ud800"}})
    assert result.problem == "bad  and ?"
