"""A small documentation with questions, and settings of a model for them."""

import json
import re
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from sqlalchemy import Engine

from llmwiki.config import (
    AnswerSettings,
    BudgetSettings,
    GeneratorSettings,
    RetrievalSettings,
    Settings,
)
from llmwiki.retrieval.context import Context
from llmwiki.retrieval.events import Event
from tests.support.chat_server import ChatServer
from tests.support.wiki import HASHING, Wiki

STATION = {
    "guide/backup.md": (
        "# Backups\n\nThe station makes a full backup every Sunday at 03:00. A backup is kept for "
        "30 days; set `max_age` to keep it longer.\n\n## Restoring\n\nTo restore a backup, stop "
        "the recorder and run `station restore --from ARCHIVE`. The recorder must be stopped "
        "first, or the archive is refused.\n"
    ),
    "guide/alerts.md": (
        "# Alerts\n\nA disk that is full raises the alert DISK-90. Alerts reach the operator by "
        "mail. An alert that nobody confirms within 15 minutes is sent again.\n"
    ),
    "guide/probes.md": (
        "# Probes\n\nA probe measures wind, rain or light. Connect it to port 7 and calibrate it "
        "with `station calibrate`. Probes that drift are calibrated again each spring.\n"
    ),
    "reference/colours.md": (
        "# Colours\n\nGreen means ready, red means broken, and amber means that the station waits "
        "for its clock.\n"
    ),
}

_CHUNK = re.compile(
    r"^--- CHUNK (c\d+) \w+\nFrom: [^\n]*\n\n(.*?)\n--- END", re.MULTILINE | re.DOTALL
)


def generator_of(server: ChatServer | None) -> GeneratorSettings:
    """Return settings for the model of that server, or for none."""
    if server is None:
        return GeneratorSettings()
    return GeneratorSettings(
        provider="openai", model="test", base_url=server.url, api_key=SecretStr("key")
    )


def station(
    engine: Engine,
    folder: Path,
    server: ChatServer | None = None,
    *,
    budget: dict[str, Any] | None = None,
    retrieval: dict[str, Any] | None = None,
    answer: dict[str, Any] | None = None,
) -> Wiki:
    """Return the wiki of the station's documentation, ingested, with a model if there is one."""
    settings = Settings(
        embedder=HASHING,
        generator=generator_of(server),
        budget=BudgetSettings(**(budget or {})),
        retrieval=RetrievalSettings(**(retrieval or {})),
        answer=AnswerSettings(**(answer or {})),
    )
    wiki = Wiki(engine, folder, settings)
    wiki.ingest(STATION)
    return wiki


def answer_from_first_chunk(request: dict[str, Any]) -> str:
    """Answer a question with the first sentence of the first chunk; generalise all others."""
    prompt = request["messages"][-1]["content"]
    chunks = _CHUNK.findall(prompt)
    if not chunks:
        return "How is the station operated?"
    label, text = chunks[0]
    sentence = text.split(". ")[0].rstrip(".") + "."
    statement = {"text": sentence, "kind": "prose", "sources": [label]}
    return json.dumps({"answered": True, "statements": [statement]})


def ending(events: tuple[Event, ...], step: str) -> Event:
    """Return how a step ended."""
    [event] = [each for each in events if each.step == step and each.status != "active"]
    return event


def documents(context: Context) -> list[str]:
    """Return the documents of the ranking, the best first."""
    return [candidate.chunk.document_path for candidate in context.ranking]
