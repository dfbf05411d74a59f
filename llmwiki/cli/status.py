"""`llmwiki status`: collections, pages, runs and budget at a glance."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from jobs import exit_codes
from jobs.entry import CollectionOption, JsonOption, OwnerOption
from jobs.runner import LEASE
from llmwiki.bootstrap import App
from llmwiki.cli.output import moment, print_json, print_line, print_table, run, span
from llmwiki.domain import BudgetState
from llmwiki.store import ledger, run_status, runs
from llmwiki.store.collection_status import CollectionStatus, collection_statuses
from llmwiki.store.collections import select_collections
from llmwiki.store.promotions import WikiGate, wiki_gate
from llmwiki.store.run_status import RunStatus
from llmwiki.store.runs import StoredRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """What `status` shows."""

    collections: Sequence[tuple[CollectionStatus, WikiGate]]
    runs: Sequence[RunStatus]
    records: Sequence[StoredRecord]
    budgets: Sequence[BudgetState]


def command(
    *,
    collection: CollectionOption = None,
    owner: OwnerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what is compiled, what is stale, the last runs and the budget of the day."""

    def work(app: App) -> int:
        standing = _read(app, collection, owner)
        if as_json:
            print_json(
                collections=[
                    {**asdict(figures), "gate": _gate_facts(gate)}
                    for figures, gate in standing.collections
                ],
                runs=[_run_facts(last) for last in standing.runs],
                records=[_record_facts(record) for record in standing.records],
                budgets=[
                    {**asdict(budget), "remaining": budget.remaining} for budget in standing.budgets
                ],
            )
        else:
            _print(standing)
        return exit_codes.DONE

    run(work)


def _read(app: App, name: str | None, owner: str | None) -> _Standing:
    owners = None if owner is None else [owner]
    max_age = app.settings.retrieval.lint_max_age
    with app.engine.connect() as connection:
        chosen = select_collections(connection, name=name, owners=owners)
        figures = collection_statuses(connection, chosen)
        gates = [wiki_gate(connection, each, max_age=max_age) for each in chosen]
        return _Standing(
            collections=tuple(zip(figures, gates, strict=True)),
            runs=run_status.last_runs(connection, silence=LEASE),
            records=[
                record
                for kind in ("compile-batch", "lint")
                for record in runs.latest_records(connection, kind=kind, limit=1)
            ],
            budgets=[
                ledger.budget_state(connection, counter, app.limits) for counter in app.limits.caps
            ],
        )


def _print(standing: _Standing) -> None:
    if not standing.collections:
        print_line("no collection yet; run `llmwiki ingest PATH --collection NAME`")
    for figures, gate in standing.collections:
        for line in _collection_lines(figures):
            print_line(line)
        print_line(f"  wiki gate {'open' if gate.is_open else 'closed'}: {gate.message}")
    _print_part(
        ("job", "started", "took", "result"),
        [
            (last.job, moment(last.started_at), span(last.duration), _outcome(last))
            for last in standing.runs
        ],
    )
    _print_part(
        ("record", "written", "facts"),
        [
            (record.record.kind, moment(record.created_at), _payload(record))
            for record in standing.records
        ],
    )
    _print_part(
        ("budget", "used", "of", "resets"),
        [
            (budget.name, str(budget.used), str(budget.cap), moment(budget.resets_at))
            for budget in standing.budgets
        ],
    )


def _print_part(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if rows:
        print_line()
        print_table(headings, rows)


def _collection_lines(figures: CollectionStatus) -> list[str]:
    reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(figures.reasons.items()))
    waiting = f" ({reasons}; oldest {moment(figures.stale_since)})" if reasons else ""
    origin = f"embedded with {figures.embedder}, ingested {moment(figures.ingested_at)}"
    authors = f"{figures.by_model} by a model, {figures.drafts} drafts"
    absent = f"{figures.never_compiled} never compiled; {figures.retired} retired"
    return [
        f"collection {figures.name} (owner {figures.owner}), {origin}",
        f"  {figures.documents} documents, {figures.chunks} chunks, {figures.topics} topics",
        f"  {figures.pages} pages: {authors}, {absent}",
        f"  {figures.stale} compiled pages stale, {figures.quarantined} quarantined{waiting}",
    ]


def _outcome(last: RunStatus) -> str:
    if last.dead:
        return "dead: no end and no heartbeat"
    if last.exit_code is None:
        return "running"
    return f"exit {last.exit_code}"


def _payload(record: StoredRecord) -> str:
    return ", ".join(
        f"{name}={value}" for name, value in record.record.payload.items() if value not in ({}, [])
    )


def _gate_facts(gate: WikiGate) -> dict[str, Any]:
    return {"open": gate.is_open, "reason": gate.reason, "message": gate.message}


def _run_facts(last: RunStatus) -> dict[str, Any]:
    return {**asdict(last), "duration": round(last.duration.total_seconds(), 3)}


def _record_facts(record: StoredRecord) -> dict[str, Any]:
    return {
        "run_id": record.run_id,
        "job": record.job,
        "kind": record.record.kind,
        "created_at": record.created_at,
        "payload": dict(record.record.payload),
    }
