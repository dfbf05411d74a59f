import numpy as np
import pytest

from llmwiki.providers.hashing_embedder import HashingEmbedder

PINNED = [-0.090851, -0.272553, 0.4239713, 0.3936876, -0.090851, 0.0, 0.0278779, -0.7574221]


def test_vectors_have_unit_length_and_the_dimension_of_the_identity() -> None:
    embedder = HashingEmbedder(64)

    vectors = embedder.embed(["Install the package", "取 消 确 认", "a"])

    assert vectors.shape == (3, embedder.identity.dimension) == (3, 64)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-6)


def test_a_text_shares_more_with_its_edit_than_with_another_text() -> None:
    original, edited, other = HashingEmbedder().embed(
        [
            "Set max_retries to limit the attempts of the client",
            "Set max_retries to limit all attempts of a client",
            "Tables are created by the migration at the first start",
        ]
    )

    assert original @ edited > 2 * (original @ other)


def test_inflected_words_are_nearer_than_unrelated_ones() -> None:
    query, inflected, unrelated = HashingEmbedder().embed(["configure", "configuring", "banana"])

    assert query @ inflected > 0.2 > abs(float(query @ unrelated))


def test_case_and_unicode_form_do_not_matter() -> None:
    first, second = HashingEmbedder().embed(["Größe ÄNDERN", "größe a\u0308ndern"])

    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("text", ["", "   ", "--- !? ---"])
def test_a_text_without_words_gets_the_same_valid_vector_every_time(text: str) -> None:
    [vector] = HashingEmbedder(8).embed([text])

    np.testing.assert_array_equal(vector, [1, 0, 0, 0, 0, 0, 0, 0])


def test_vectors_are_the_same_in_every_release_and_on_every_machine() -> None:
    [vector] = HashingEmbedder(8).embed(["the quick brown fox, the lazy dog"])

    np.testing.assert_allclose(vector, PINNED, atol=1e-6)


def test_no_texts_give_no_rows() -> None:
    assert HashingEmbedder(8).embed([]).shape == (0, 8)
