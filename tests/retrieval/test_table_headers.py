"""A table whose header is long states it once; a chunk from its middle is shown with it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine

from llmwiki.answering.prompt import build_messages
from llmwiki.answering.service import answer_question
from llmwiki.cli.context_facts import context_facts
from llmwiki.cli.context_lines import block_lines
from llmwiki.retrieval.context import Context
from llmwiki.retrieval.service import retrieve
from tests.support.chat_server import ChatServer
from tests.support.questions import STATION, station
from tests.support.wiki import Wiki

COLUMNS = [f"the measured quantity of column {number}" for number in range(30)]
HEADER = f"| probe | {' | '.join(COLUMNS)} |\n|{' --- |' * (len(COLUMNS) + 1)}"
NAMES = ["anemometer", "barometer", "hygrometer", "pluviometer", "pyranometer", "thermometer"]
ROWS = [
    f"| {name}{model} | {' | '.join(str(model * column) for column in range(30))} |"
    for model in range(1, 5)
    for name in NAMES
]
DOCUMENTS = {"probes.md": "# Probes\n\nEvery probe by model.\n\n" + "\n".join([HEADER, *ROWS])}
QUESTION = "probe pyranometer3 6 9 12 15"


@pytest.fixture
def wiki(engine: Engine, tmp_path: Path, server: ChatServer) -> Wiki:
    small = {"limit": 1, "token_budget": 650}
    opened = station(engine, tmp_path, server, retrieval=small)
    opened.ingest(STATION | DOCUMENTS)
    return opened


@pytest.fixture
def context(wiki: Wiki) -> Context:
    return retrieve(wiki.app.retrieval, QUESTION)


def test_rows_from_the_middle_come_with_their_header_and_stay_as_they_are_stored(
    context: Context,
) -> None:
    block = context.blocks[0]
    assert "pyranometer3" in block.text
    assert HEADER not in block.text
    assert block.text == "\n\n".join(chunk.text for chunk in block.chunks)
    assert block.table_header == HEADER
    assert block.readable == f"{HEADER}\n{block.text}"
    assert context.tokens <= 650


def test_a_header_that_has_no_room_is_left_out(wiki: Wiki) -> None:
    parts = wiki.app.retrieval
    tight = replace(parts, settings=parts.settings.model_copy(update={"token_budget": 200}))
    context = retrieve(tight, QUESTION)
    assert "pyranometer3" in context.blocks[0].text
    assert context.blocks[0].table_header == ""
    assert context.tokens <= 200


def test_readers_and_the_model_are_shown_the_header(context: Context) -> None:
    assert HEADER in "\n".join(
        line.strip() for line in str(block_lines(context.blocks[0], characters=None)).split("\n")
    )
    _, header, row, *_ = str(block_lines(context.blocks[0])).split("\n")
    assert header.strip().startswith("| probe | the measured quantity of column 0 |")
    assert row.strip()[:60] == context.blocks[0].text[:60]
    assert f"\n\n{HEADER}\n| " in str(build_messages(context)[1]["content"])
    [facts, *_] = dict(context_facts(context, trace=False))["chunks"]
    assert (facts["text"], facts["table_header"]) == (context.blocks[0].text, HEADER)


def test_what_the_model_says_may_stand_on_the_header(wiki: Wiki, server: ChatServer) -> None:
    text = "The pyranometer3 measures the measured quantity of column 29."
    statement = {"text": text, "kind": "prose", "sources": ["c1"]}
    server.enqueue(json.dumps({"answered": True, "statements": [statement]}))
    answer = answer_question(wiki.app.answering, QUESTION)
    assert [each.text for each in answer.statements] == [text]
