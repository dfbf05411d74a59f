from llmwiki.text.hashing import bag_hash, chunk_hash, content_hash, normalise, unit_interval

CODE = "Set it:\n\n```yaml\na:\n  b: 1\n```\n\nDone."


def test_a_reflow_other_line_ends_and_another_unicode_form_change_nothing() -> None:
    assert chunk_hash("A", "one two\nthree") == chunk_hash("A", "one  two three ")
    assert normalise("e\u0301") == normalise("\u00e9")


def test_moving_a_boundary_between_parts_changes_the_hash() -> None:
    assert content_hash("ab", "c") != content_hash("a", "bc")


def test_the_indentation_of_code_is_part_of_what_a_chunk_says() -> None:
    assert chunk_hash("A", CODE) != chunk_hash("A", CODE.replace("  b", "b"))


def test_the_indentation_of_prose_is_not_even_beside_code() -> None:
    assert chunk_hash("A", CODE) == chunk_hash("A", CODE.replace("Done.", "  Done."))


def test_an_inner_fence_does_not_end_an_outer_one() -> None:
    outer = "````md\n```py\n  x\n```\n  y\n````"
    assert chunk_hash("A", outer) != chunk_hash("A", outer.replace("  y", "y"))


def test_repetition_counts_in_a_bag_and_order_does_not() -> None:
    assert bag_hash(["a", "b", "a"]) == bag_hash(["b", "a", "a"]) != bag_hash(["a", "b"])


def test_numbers_are_spread_over_the_interval() -> None:
    numbers = [unit_interval(str(n)) for n in range(1000)]
    assert all(0 <= number < 1 for number in numbers)
    assert 0.45 < sum(numbers) / 1000 < 0.55
