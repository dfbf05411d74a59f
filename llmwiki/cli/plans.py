"""`llmwiki plans`: which evidence a question needs; check the plans, try one, suggest some."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import Connection

from jobs import exit_codes
from jobs.entry import CollectionOption, JsonOption, OwnerOption
from llmwiki.bootstrap import App
from llmwiki.cli.asking import QuestionArgument, TraceOption, open_trace
from llmwiki.cli.output import print_json, print_line, print_problem, run
from llmwiki.cli.plan_trial import Trial
from llmwiki.cli.selection import (
    AskedCollectionOption,
    AskedOwnersOption,
    OneCollectionOption,
    OneOwnerOption,
    select_one,
)
from llmwiki.config import Settings, load_settings
from llmwiki.errors import ConfigurationError
from llmwiki.retrieval.evidence.plan_files import PlanLibrary, load_plans, plans_folder
from llmwiki.retrieval.evidence.plan_lint import Corpus, PlanFinding, check_corpus, check_files
from llmwiki.retrieval.evidence.suggestions import drafts_as_yaml, suggest_plans
from llmwiki.retrieval.service import retrieve
from llmwiki.store.collections import select_collections
from llmwiki.store.family_search import document_places, section_places, section_sizes
from llmwiki.store.plan_sources import linked_topics, listed_documents

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Which kinds of evidence a question needs, by the shape that it has.",
)

LimitOption = Annotated[
    int,
    typer.Option("--limit", min=1, help="Most drafts; those whose documents are linked the most."),
]
FilesOption = Annotated[
    bool, typer.Option("--files", help="Check the files alone, without a database.")
]


@app.command("lint")
def lint_command(
    *,
    files: FilesOption = False,
    collection: CollectionOption = None,
    owner: OwnerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check every plan and what its families match; exit with 1 where one is wrong."""

    def work(app: App) -> int:
        library = _library(app.settings)
        findings = list(check_files(library, limit=app.settings.retrieval.limit))
        with app.engine.connect() as connection:
            corpus = _corpus(connection, collection, owner)
        if corpus.chunks:
            findings.extend(check_corpus(library, corpus))
        return _report(app.settings, library, findings, as_json=as_json)

    if files:
        raise typer.Exit(_lint_files(as_json=as_json))
    run(work)


@app.command("test")
def try_command(
    question: QuestionArgument,
    *,
    collection: AskedCollectionOption = None,
    owner: AskedOwnersOption = None,
    trace: TraceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Ask a question, and tell its families, their witnesses, what was rescued and is missing."""

    def work(app: App) -> int:
        context = retrieve(
            app.retrieval,
            question,
            owners=owner,
            collection=collection,
            trace=open_trace(app, shown=trace),
        )
        trial = Trial(context)
        if as_json:
            print_json(**trial.facts())
        else:
            for problem in trial.problems():
                print_problem(problem)
            for line in trial.lines():
                print_line(line)
        return exit_codes.DONE

    run(work)


@app.command("suggest")
def suggest_command(
    *,
    collection: OneCollectionOption = None,
    owner: OneOwnerOption = None,
    limit: LimitOption = 20,
) -> None:
    """Print drafts of plans as YAML, from the table of contents and the wiki's links."""

    def work(app: App) -> int:
        with app.engine.connect() as connection:
            chosen = select_one(connection, collection, owner)
            listed = listed_documents(connection, chosen)
            drafts = suggest_plans(listed, linked_topics(connection, chosen))
        if drafts:
            print_line(drafts_as_yaml(drafts[:limit]).rstrip("\n"))
            if len(drafts) > limit:
                print_problem(
                    f"{len(drafts) - limit} more of {len(drafts)} drafts, whose documents are "
                    "linked less, were left out; --limit shows more"
                )
        else:
            print_problem("no documents of one folder belong together; there is nothing to suggest")
        return exit_codes.DONE

    run(work)


def _lint_files(*, as_json: bool) -> int:
    try:
        settings = load_settings()
    except ConfigurationError as error:
        print_problem(f"llmwiki: {error}")
        return exit_codes.ERROR
    library = _library(settings)
    findings = list(check_files(library, limit=settings.retrieval.limit))
    return _report(settings, library, findings, as_json=as_json)


def _library(settings: Settings) -> PlanLibrary:
    return load_plans(_folder(settings), settings.retrieval.authority_tiers)


def _folder(settings: Settings) -> Path:
    return plans_folder(settings.retrieval.plans)


def _corpus(connection: Connection, name: str | None, owner: str | None) -> Corpus:
    owners = None if owner is None else [owner]
    collections = select_collections(connection, name=name, owners=owners)
    documents = {document.id: document for document in document_places(connection, collections)}
    return Corpus(
        documents=documents,
        sections=tuple(section_places(connection, documents)),
        sizes=section_sizes(connection, documents),
    )


def _report(
    settings: Settings, library: PlanLibrary, findings: Sequence[PlanFinding], *, as_json: bool
) -> int:
    errors = sum(finding.severity == "error" for finding in findings)
    if as_json:
        print_json(
            folder=str(_folder(settings)),
            plans=[plan.name for plan in library.plans],
            findings=[_finding_facts(finding) for finding in findings],
        )
    else:
        for finding in findings:
            print_line(str(finding))
        if library.plans or findings:
            warnings = len(findings) - errors
            print_line(
                f"plans in use: {len(library.plans)}; errors: {errors}; warnings: {warnings}"
            )
        else:
            print_line(f"there is no plan in {_folder(settings)}; try `llmwiki plans suggest`")
    return exit_codes.FAILURES if errors else exit_codes.DONE


def _finding_facts(finding: PlanFinding) -> dict[str, str | int]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "file": finding.place.file,
        "line": finding.place.line,
        "message": finding.message,
    }
