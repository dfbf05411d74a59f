"""What the benchmarks share: a database of their own, and the measure of a ranking.

nDCG@10 with binary gains (Järvelin and Kekäläinen 2002); a document ranks as its best chunk.
"""

import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Engine

from llmwiki.evaluation.dataset import Dataset
from llmwiki.store import migrations
from llmwiki.store.engine import open_database

Key = TypeVar("Key")

DEPTH = 10


@contextmanager
def migrated_database(database_url: str | None) -> Iterator[Engine]:
    """Open the database of that URL, or a new one that is removed afterwards, with our schema."""
    with tempfile.TemporaryDirectory(prefix="llmwiki-benchmark-") as folder:
        Path(folder).chmod(0o755)
        with open_database(database_url or f"embedded:{folder}/database") as database:
            migrations.upgrade(database.engine)
            yield database.engine


def relevant_documents(dataset: Dataset) -> dict[str, frozenset[str]]:
    """Return the documents that are relevant, by the question's id."""
    return {
        query_id: frozenset(judged.document_id for judged in judgments if judged.score > 0)
        for query_id, judgments in dataset.judgments.items()
    }


def documents_of(ranking: Iterable[Key], owners: Mapping[Key, str]) -> list[str]:
    """Return the documents of ranked chunks, each once, the first ten."""
    return list(dict.fromkeys(owners[chunk] for chunk in ranking))[:DEPTH]


def ndcg(ranking: Iterable[str], relevant: frozenset[str]) -> float:
    """Return nDCG@10 of ranked documents."""
    gain = sum(1 / math.log2(place + 2) for place, key in enumerate(ranking) if key in relevant)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(DEPTH, len(relevant))))
    return gain / ideal
