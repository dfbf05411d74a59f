from llmwiki.text.weights import share


def test_without_words_there_is_no_overlap() -> None:
    assert share({}, ["a"]) == 0.0


def test_a_word_that_occurs_twice_counts_once() -> None:
    assert share({"a": 1.0, "b": 1.0}, ["a", "a"]) == 0.5


def test_what_nothing_can_hold_counts_as_not_held() -> None:
    assert share({"a": 1.0, "b": 1.0}, ["a"], unknown=2.0) == 0.25
    assert share({}, ["a"], unknown=2.0) == 0.0
