from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine

from llmwiki.compiler.rollback import Rollback, roll_back
from llmwiki.config import CompileSettings, GeneratorSettings, Settings
from tests.support.chat_server import ChatServer
from tests.support.wiki import HASHING, Wiki, prose

SLUG = "guide/pump"
FILES = {
    "index.md": f"# Home\n\n{prose('home')}\n",
    "guide/pump.md": f"# Pump\n\n{prose('pump')}\n\n## Valve\n\n{prose('valve')}\n",
}

Edit = Callable[[str, str], None]


def edited(old: str, new: str, files: dict[str, str] | None = None) -> dict[str, str]:
    files = files or FILES
    assert old in files["guide/pump.md"]
    return files | {"guide/pump.md": files["guide/pump.md"].replace(old, new)}


SECOND = edited("pump number 3 keeps", "pump number 3 loses")


@pytest.fixture
def twice(wiki: Wiki) -> Wiki:
    """A wiki whose page about pumps has two revisions, compiled from different sources."""
    for files in (FILES, SECOND):
        wiki.ingest(files)
        wiki.night()
    assert body(wiki).count("pump number 3 loses") == 1
    return wiki


def return_to(
    wiki: Wiki, number: int | None = None, *, slug: str = SLUG, write: bool = True
) -> Rollback:
    assert wiki.collection is not None
    return roll_back(
        wiki.engine, wiki.collection, wiki.app.embedder, slug, number=number, write=write
    )


def body(wiki: Wiki, slug: str = SLUG) -> str:
    [(text,)] = wiki.rows("SELECT body FROM page WHERE slug = :slug", slug=slug)
    return str(text)


def model_wiki(engine: Engine, folder: Path, server: ChatServer, *, attempts: int = 2) -> Wiki:
    settings = Settings(
        embedder=HASHING,
        generator=GeneratorSettings(
            provider="openai",
            model="test",
            base_url=server.url,
            api_key=SecretStr("key"),
            max_attempts=1,
        ),
        compile=CompileSettings(max_attempts=attempts),
    )
    return Wiki(engine, folder, settings)
