import subprocess
import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Never

import pytest

from llmwiki.errors import ProviderError, TransientProviderError
from llmwiki.retrieval import deadline
from llmwiki.retrieval.deadline import THREAD_PREFIX, let_end, within
from tests.support.tiny_cross_encoder import write_cross_encoder

TOLD: ContextVar[str] = ContextVar("TOLD")


def test_work_that_ends_in_time_returns_its_result() -> None:
    assert within(5.0, lambda: 7, name="the sum") == 7


def test_work_that_hangs_is_given_up() -> None:
    ended = threading.Event()

    with pytest.raises(TransientProviderError, match=r"the oracle was given up after 0\.02 s"):
        within(0.02, ended.wait, name="the oracle")

    ended.set()
    let_end()


def given_up(work: Callable[[], object]) -> threading.Thread:
    with pytest.raises(TransientProviderError):
        within(0.0, work, name="the oracle")
    return next(each for each in threading.enumerate() if each.name.startswith(THREAD_PREFIX))


def test_the_end_of_the_program_waits_for_what_was_given_up() -> None:
    ended = threading.Event()
    thread = given_up(ended.wait)
    threading.Timer(0.01, ended.set).start()

    let_end()

    assert not thread.is_alive()


def test_the_end_of_the_program_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "LONGEST_FAREWELL", 0.02)
    ended = threading.Event()
    thread = given_up(ended.wait)

    let_end()

    assert thread.is_alive()
    ended.set()
    thread.join()


LEAVES_A_MODEL_AT_WORK = """
import os, signal, sys, threading
from pathlib import Path
from llmwiki.providers.clock import SystemClock
from llmwiki.providers.cross_encoder import CrossEncoder
from llmwiki.retrieval.deadline import within

encoder = CrossEncoder(Path(sys.argv[1]), SystemClock())
if sys.argv[2] == "interrupted":
    threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT]).start()
try:
    within(
        float(sys.argv[3]),
        lambda: encoder.score("question", ["slow"], timeout=100.0),
        name="the reranker",
    )
except BaseException as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize(
    ("how", "seconds", "raised"),
    [("given up", 0.1, "TransientProviderError"), ("interrupted", 60.0, "KeyboardInterrupt")],
)
def test_a_model_that_is_left_at_work_ends_with_the_program_and_does_not_abort_it(
    tmp_path: Path, how: str, seconds: float, raised: str
) -> None:
    folder = write_cross_encoder(tmp_path, hangs=True)
    script = [sys.executable, "-c", LEAVES_A_MODEL_AT_WORK, str(folder), how, str(seconds)]

    ended = subprocess.run(script, capture_output=True, text=True, timeout=60.0, check=False)

    assert (ended.returncode, ended.stdout.strip(), ended.stderr) == (0, raised, "")


def test_without_time_nothing_is_waited_for() -> None:
    ended = threading.Event()

    with pytest.raises(TransientProviderError):
        within(-1.0, ended.wait, name="the oracle")

    ended.set()
    let_end()


def fail(error: BaseException) -> Never:
    raise error


@pytest.mark.parametrize("error", [TimeoutError("mine"), ValueError("bad"), ProviderError("down")])
def test_an_error_of_the_work_is_raised_as_it_is(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        within(5.0, lambda: fail(error), name="the oracle")

    assert caught.value is error


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_work_cannot_end_the_program(error: BaseException) -> None:
    with pytest.raises(ProviderError, match=f"the oracle raised {type(error).__name__}"):
        within(5.0, lambda: fail(error), name="the oracle")


def test_the_work_sees_the_context_of_the_caller() -> None:
    TOLD.set("run 7")

    assert within(5.0, TOLD.get, name="the oracle") == "run 7"
