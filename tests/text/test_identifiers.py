import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmwiki.text.identifiers import find_identifiers
from llmwiki.text.lexemes import separate_words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Pass --max-retries=3 or -v.", "--max-retries -v"),
        ("since v1.2.3, not 2.0rc1", "v1.2.3 2.0rc1"),
        ("the v2 of the API, 1.2.3-beta.2", "v2 1.2.3-beta.2"),
        ("set `max_age` and MAX_SIZE in utf8_general", "max_age max_size utf8_general"),
        ("os.path.join() and std::vector", "os.path.join std::vector"),
        ("see docker-compose.yml of my-app.example.com", "docker-compose.yml my-app.example.com"),
        ("error E0308, HTTP-404, ORA-00942", "e0308 http-404 ora-00942"),
        ("CVE-2024-1234 and 0x80070005", "cve-2024-1234 0x80070005"),
        ("in C++, C++17 or C#.", "c++ c++17 c#"),
        ("e.g. a.b.method, i.e. x.y.Z1", "a.b.method x.y.z1"),
        ("a BackgroundTasks for onChange", "backgroundtasks onchange"),
        ("read /etc/hosts. Then ~/.netrc (or /v1/chat)", "/etc/hosts ~/.netrc /v1/chat"),
        ("GET /metrics", "/metrics"),
        ("$HOME, ${MAX_SIZE}", "home max_size"),
        ("send X-Request-Id and Content-Type", "x-request-id content-type"),
        ("send x-request-id", "x-request-id"),
        ("call run() twice, run()", "run"),
        ("__init__ of it", "__init__"),
    ],
)
def test_what_people_call_by_its_name_is_found(text: str, found: str) -> None:
    assert find_identifiers(text) == tuple(found.split())


@pytest.mark.parametrize(
    "text",
    [
        "and/or input/output, 50 km/h, I/O",
        "a well-known pre-war x-ray",
        "URLs and APIs of the PDF",
        "i.e., e.g. at 5 p.m. in the U.S. (U.S.A.F.) by J.R.R. Tolkien",
        "-5 degrees, $5, 10 %, #tag",
        "a / b // c",
        "",
    ],
)
def test_prose_is_not_taken_for_names(text: str) -> None:
    assert find_identifiers(text) == ()


@pytest.mark.parametrize(
    "unit",
    [
        *("a", "A", "1", "_", "-", "/", ".", ":", "+", "$", "~", "é", " "),
        *("a.", "a-", "a::", "A-", "Aa", "aA", "1.", "/a", "/.", "a_", "a.a-", "x-a", "A1-", "${"),
        *("--a", "A-1", "0x", "a()", "C++", "/a.", "~/", "a.1.", "A-a."),
    ],
)
def test_hostile_texts_take_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    started = time.process_time()
    for end in ("", "-", "!", "é"):
        find_identifiers(text + end)
        separate_words(text + end)
    assert time.process_time() - started < 4.0


@given(st.text())
def test_a_name_is_found_once_and_in_lower_case(text: str) -> None:
    names = find_identifiers(text)
    assert len(set(names)) == len(names)
    assert all(name == name.lower() for name in names)


def test_marks_that_fuse_words_become_blanks_and_numbers_stay_whole() -> None:
    separated = separate_words("co-wrote docs.example.com/a_b <T> 1564-1616, 3.14. it's v1.2")
    assert separated.split() == [
        *("co", "wrote", "docs", "example", "com", "a_b", "T", "1564", "1616", "3.14"),
        *("it's", "v1.2"),
    ]
