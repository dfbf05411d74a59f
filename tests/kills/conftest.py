"""How hard the storm is: ``LLMWIKI_KILLS=300 pytest tests/kills``."""

import os

import pytest

from tests.support.forked import prepare_processes

VARIABLE = "LLMWIKI_KILLS"
KILLS_IN_THE_ORDINARY_SUITE = 30


@pytest.fixture(scope="session", autouse=True)
def _processes() -> None:
    prepare_processes()


@pytest.fixture
def kills() -> int:
    return int(os.environ.get(VARIABLE, KILLS_IN_THE_ORDINARY_SUITE))
