"""The dry run foretells the packs, calls and nights that the drain then takes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine

from jobs import compile_drain, exit_codes
from jobs.runner import JobResult, run_job
from llmwiki.compiler.packs import _tokens
from llmwiki.config import BudgetSettings, GeneratorSettings, OverviewSettings, Settings
from tests.replay.histories import clone
from tests.support.chat_server import ChatServer
from tests.support.model import write_pages
from tests.support.wiki import HASHING, Wiki, prose

Pack = tuple[int, int]
"""Pages and estimated tokens of input."""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(write_pages) as running:
        yield running


def asks(server: ChatServer, **generator: Any) -> GeneratorSettings:  # noqa: ANN401 - settings
    return GeneratorSettings(
        provider="openai",
        model="test",
        base_url=server.url,
        api_key=SecretStr("key"),
        **generator,
    )


def foretell(wiki: Wiki) -> JobResult:
    return run_job(wiki.app, compile_drain.JOB, wiki.options(dry_run=True), compile_drain.run)


def foretold_packs(forecast: JobResult) -> list[Pack]:
    return [(pack["pages"], pack["input_tokens"]) for pack in forecast.facts["packs"]]


def real_packs(bodies: Sequence[dict[str, Any]]) -> list[Pack]:
    return [
        (
            body["messages"][-1]["content"].count("=== TOPIC "),
            sum(_tokens(message["content"]) for message in body["messages"]),
        )
        for body in bodies
    ]


def test_every_night_is_foretold_until_the_queue_is_empty(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    settings = Settings(
        embedder=HASHING,
        overview=OverviewSettings(small_document_tokens=0),
        generator=asks(server, pages_per_call=7, max_input_tokens=5000),
        budget=BudgetSettings(chat_calls_per_night=2),
    )
    wiki = Wiki(engine, tmp_path, settings)
    sizes = [5 + (number * 13) % 60 for number in range(40)]
    wiki.ingest(
        {f"d{n:02}.md": f"# D{n}\n\n{prose(f'd{n}', size)}\n" for n, size in enumerate(sizes)}
    )
    nights = []
    whole_plan = foretold_packs(foretell(wiki))
    while wiki.rows("SELECT count(*) FROM page WHERE stale") != [(0,)]:
        forecast = foretell(wiki)
        nights.append(forecast.facts["nights"])
        before = server.requests
        result = wiki.drain()
        packs = foretold_packs(forecast)[: result.facts["chat_calls"]]
        assert real_packs(server.bodies[before:]) == packs
        wiki.change(
            "UPDATE budget_day SET day = (SELECT min(day) - 1 FROM budget_day) "
            "WHERE day = current_date"
        )

    assert real_packs(server.bodies) == whole_plan
    assert nights == list(range(len(nights), 0, -1))
    assert len(nights) > 2
    assert len({pages for pages, _ in whole_plan}) > 2, "the limits of tokens should matter"


@pytest.mark.corpora("fastapi-docs")
def test_the_documentation_of_fastapi_converges_in_one_night_of_fifteen_calls(
    engine: Engine, tmp_path: Path, corpus_bundle: Path, server: ChatServer
) -> None:
    history = clone(corpus_bundle, tmp_path / "fastapi")
    history.check_out(len(history.commits))
    wiki = Wiki(engine, history.folder, Settings(embedder=HASHING, generator=asks(server)))
    wiki.ingest()

    forecast = foretell(wiki)
    assert server.requests == 0
    result = wiki.night()
    drain = result.facts["drain"]
    print("\n".join(forecast.lines), *result.lines[-3:], sep="\n")  # noqa: T201 - for the document

    assert len(forecast.facts["would_compile"]) >= 200
    assert forecast.facts["nights"] == 1
    assert server.requests == drain["chat_calls"] == forecast.facts["chat_calls_needed"] <= 15
    assert real_packs(server.bodies) == foretold_packs(forecast)
    assert (result.exit_code, drain["remaining_stale"]) == (exit_codes.DONE, 0)
    assert wiki.rows(
        "SELECT count(*) FROM page WHERE kind = 'page' AND generator_kind = 'model'"
    ) == [(len(forecast.facts["would_compile"]),)]
