from datetime import timedelta

import pytest
from sqlalchemy import Engine

from llmwiki.store.answer_cache import find_answer, keep_answer


@pytest.mark.parametrize("ttl", [timedelta(hours=1), timedelta.max])
def test_an_answer_is_kept_under_its_kind_and_key(engine: Engine, ttl: timedelta) -> None:
    with engine.connect() as connection:
        keep_answer(connection, "answer", "k", {"text": "one"}, ttl=ttl)
        keep_answer(connection, "answer", "k", {"text": "two"}, ttl=ttl)
        assert find_answer(connection, "answer", "k") == {"text": "two"}
        assert find_answer(connection, "grade", "k") is None


@pytest.mark.parametrize("ttl", [timedelta(0), timedelta(days=-1)])
def test_what_may_be_kept_for_no_time_is_not_kept(engine: Engine, ttl: timedelta) -> None:
    with engine.connect() as connection:
        keep_answer(connection, "answer", "k", {"text": "one"}, ttl=ttl)
        assert find_answer(connection, "answer", "k") is None
