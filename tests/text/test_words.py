import pytest

from llmwiki.text.words import find_words, spaced


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Run `kubectl get-pods`!", ("run", "kubectl", "get", "pods")),
        ("STRASSE Straße", ("strasse", "strasse")),
        ("cafe\u0301 \uff30\uff2f\uff24", ("café", "pod")),
        ("什么是 Pod", ("什", "么", "是", "pod")),
        ("snake_case v1.10", ("snake", "case", "v1", "10")),
        ("!? \u200b", ()),
    ],
)
def test_words_are_compared_without_case_punctuation_and_variants(
    text: str, words: tuple[str, ...]
) -> None:
    assert find_words(text) == words


def test_spaced_words_have_a_blank_on_each_side() -> None:
    assert spaced("A, b") == " a b "
