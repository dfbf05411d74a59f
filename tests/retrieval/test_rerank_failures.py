import threading
import time
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine

from llmwiki.domain import Usage
from llmwiki.errors import QuotaExhaustedError
from tests.providers.conftest import FakeClock
from tests.support.candidates import ordered
from tests.support.reranking import Session, Stub, assert_fused_order_stands, backwards

BRIEF = 0.05


@pytest.mark.parametrize(
    "lie",
    [
        [(0, 0.1), (1, 0.2), (9, 0.3)],
        [(0, 0.1), (1, 0.2), (1, 0.2)],
        [(0, 0.1), (1, float("nan")), (2, 0.3)],
        [(0, 0.1), (1, 0.2), (2, 0.3), (3, 0.4)],
        [(0, 0.0), (1, 0.0), (2, 0.0)],
        [],
    ],
)
def test_a_reranker_that_lies_changes_nothing(
    session: Session, lie: list[tuple[int, float]]
) -> None:
    session.reranker = Stub(lambda _texts: lie)

    assert_fused_order_stands(session, ordered("a", "b", "c"))
    assert session.last.error == "InvalidAnswerError"
    assert session.last.usage == Usage(rerank_calls=1)


@pytest.mark.parametrize(
    "error",
    [QuotaExhaustedError(), ValueError("odd"), MemoryError(), SystemExit(1), RecursionError()],
)
def test_whatever_a_reranker_raises_the_fused_order_stands(
    session: Session, error: BaseException
) -> None:
    def fail(_texts: Sequence[str]) -> list[tuple[int, float]]:
        raise error

    session.reranker = Stub(fail)

    assert_fused_order_stands(session, ordered("a", "b", "c"))
    expected = "ProviderError" if isinstance(error, SystemExit) else type(error).__name__
    assert session.last.error == expected


def test_a_reranker_that_heeds_no_time_is_given_up(session: Session) -> None:
    released = threading.Event()

    def hang(texts: Sequence[str]) -> list[tuple[int, float]]:
        released.wait(20.0)
        return backwards(texts)

    session.reranker = Stub(hang)
    session.settings = session.settings.model_copy(update={"deadline": BRIEF})
    started_at = time.monotonic()

    assert_fused_order_stands(session, ordered("a", "b", "c"))
    assert time.monotonic() - started_at < 40 * BRIEF
    assert "given up after 0.05 s" in str(session.last.message)
    released.set()


class LateClock(FakeClock):
    """Each look at the clock takes a minute, as if the database had been slow."""

    def monotonic(self) -> float:
        self.sleep(60.0)
        return super().monotonic()


def test_a_reranker_is_not_asked_when_no_time_is_left(session: Session) -> None:
    stub = session.reranker = Stub(backwards)
    session.clock = LateClock()

    assert_fused_order_stands(session, ordered("a", "b", "c"))
    assert "it was not asked" in str(session.last.message)
    assert stub.asked == []


def test_a_database_that_is_gone_changes_nothing_and_shows_no_statement(session: Session) -> None:
    session.reranker = Stub(backwards)
    session.engine = create_engine("postgresql+psycopg://nobody@127.0.0.1:1/none")

    assert_fused_order_stands(session, ordered("a", "b"))
    assert session.last.error == "DatabaseError"
    assert "SELECT" not in str(session.last.message)
    session.engine.dispose()


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None
)
@given(
    answer=st.lists(st.tuples(st.integers(-1, 7), st.floats()), max_size=8),
    count=st.integers(0, 7),
    top_n=st.integers(1, 9),
    limit=st.integers(2, 8),
    honest=st.booleans(),
)
def test_the_result_is_always_a_part_of_what_came_in_without_repetition(
    session: Session,
    answer: list[tuple[int, float]],
    count: int,
    top_n: int,
    limit: int,
    honest: bool,
) -> None:
    session.reranker = Stub(backwards if honest else lambda _texts: answer)
    session.settings = session.settings.model_copy(update={"max_candidates": limit})
    candidates = ordered(*(f"text {number}" for number in range(count)))

    best = session(candidates, top_n)

    assert len(best) == min(top_n, count)
    assert len(set(best)) == len(best)
    assert set(best) <= {each.id for each in candidates}
    if session.last.status == "error":
        assert best == [each.id for each in candidates[:top_n]]
