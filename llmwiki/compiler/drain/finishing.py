"""From a draft to a page in the database: gate, embed, write and record in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import structlog
from sqlalchemy import Connection, Engine

from llmwiki.compiler.fingerprint import source_hash
from llmwiki.compiler.page import CheckedPage, RefusedDraftError, finish_page
from llmwiki.config import GateLimits
from llmwiki.domain import (
    Collection,
    CollectionId,
    GeneratorIdentity,
    PageDraft,
    Record,
    RunId,
    StaleReason,
    TopicSources,
)
from llmwiki.errors import ProviderError
from llmwiki.ports import Embedder
from llmwiki.store import chunks, embeddings, page_leases, page_writing, quarantine, runs
from llmwiki.store import refused_drafts as refusals
from llmwiki.store.embeddings import page_embedding_text
from llmwiki.store.queue import QueuedPage
from llmwiki.store.refused_drafts import Dropped, Refusal

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a draft that passed the gate."""

    written: bool
    """False when the lease was lost meanwhile: another worker has the page."""
    embed_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFinisher:
    """Writes pages of the given collections, each whole or not at all, for one run."""

    engine: Engine
    embedder: Embedder
    collections: Mapping[CollectionId, Collection]
    limits: GateLimits
    run_id: RunId
    upgrade_follows: bool
    """The pages written are drafts, which stay queued for a better generator."""

    def finish(
        self,
        page: QueuedPage,
        sources: TopicSources,
        draft: PageDraft,
        generator: GeneratorIdentity,
        facts: Mapping[str, Any],
    ) -> Outcome:
        """Check the draft, embed it, and write it with statements, edges, revision and record.

        Raises RefusedDraftError when the gate refuses the draft, ProviderError when the
        embedder fails; the page then is what it was.
        """
        checked = self._check(page, sources, draft, generator)
        collection = self.collections[page.topic.collection_id]
        compiled = checked.page
        text = page_embedding_text(compiled.title, compiled.tldr.text, compiled.tags)
        embedded = embeddings.embed_missing(
            self.engine, collection, self.embedder, {compiled.embedding_hash: text}
        )
        with self.engine.connect() as connection:
            written = page_writing.write_page(
                connection, collection, page.page_id, page.lease_token, compiled, sources.chunks
            )
            if written:
                self._requeue(connection, page, sources)
            payload = {
                "status": "compiled" if written else "lease-lost",
                "generator": generator.name,
                "embed_calls": embedded,
                "dropped": [dropped.reason for dropped in checked.dropped],
                **facts,
            }
            self.record(connection, page, payload)
            connection.commit()
        if not written:
            log.warning("compile.lease_lost", page=page.topic.key)
        return Outcome(written=written, embed_calls=embedded)

    def _check(
        self,
        page: QueuedPage,
        sources: TopicSources,
        draft: PageDraft,
        generator: GeneratorIdentity,
    ) -> CheckedPage:
        is_model = generator.kind == "model"
        # What a draft says of its sources follows from them, and so does how little that is.
        limits = self.limits if is_model else replace(self.limits, min_share_of_sources=0)
        # Only a model's page can be cut short against a model's. A draft follows from its sources,
        # whatever stood there before, and may well be longer than what a model makes of them.
        by_models = is_model and page.generator_kind == "model"
        previous = page.text_length if by_models else 0
        return finish_page(draft, sources, generator, limits, previous_length=previous)

    def _requeue(self, connection: Connection, page: QueuedPage, sources: TopicSources) -> None:
        """Keep the page queued where its sources moved during the call, or as a draft."""
        now = chunks.topic_sources(connection, [page.topic.id]).get(page.topic.id, ())
        reasons: list[StaleReason] = []
        if source_hash(now) != source_hash(sources.chunks):
            reasons.append("content")
        if self.upgrade_follows:
            reasons.append("recipe")
        if reasons:
            page_leases.keep_queued(connection, page, reasons)

    def record(self, connection: Connection, page: QueuedPage, payload: Mapping[str, Any]) -> None:
        """Write a ``compile`` record in the caller's transaction."""
        record = Record(
            kind="compile",
            payload={"page": page.topic.key, "reasons": list(page.reasons), **payload},
            collection_id=page.topic.collection_id,
            page_id=page.page_id,
        )
        runs.add_records(connection, self.run_id, [record])

    def record_failure(
        self, connection: Connection, page: QueuedPage, error: ProviderError
    ) -> None:
        """Record that the page keeps its last text, and keep a draft that the gate refused.

        For after the failure was counted, in the same transaction: it may have been the one that
        put the page into quarantine.
        """
        self.record(connection, page, {"status": "failed", "error": str(error)})
        if isinstance(error, RefusedDraftError):
            refusals.add_refusal(
                connection,
                page.topic.collection_id,
                page.page_id,
                self.run_id,
                _refusal(error),
            )
        quarantine.remember_edges(connection, page.page_id)


def _refusal(error: RefusedDraftError) -> Refusal:
    return Refusal(
        generator=error.generator.name,
        refusal=str(error),
        dropped=tuple(
            Dropped(text=dropped.text, reason=dropped.reason, detail=dropped.detail)
            for dropped in error.verdict.dropped
        ),
        draft=error.draft,
    )
