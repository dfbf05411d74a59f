"""`llmwiki search`: passages that answer a question, with the pages that they belong to."""

from dataclasses import replace
from typing import Annotated

import typer

from jobs import exit_codes
from jobs.entry import JsonOption
from llmwiki.bootstrap import App
from llmwiki.cli.asking import (
    QuestionArgument,
    TraceOption,
    WikiChoice,
    WikiOption,
    anchor_lines,
    block_lines,
    context_facts,
    open_trace,
    page_lines,
    tell_problems,
)
from llmwiki.cli.output import console, print_json, print_problem, run
from llmwiki.cli.selection import AskedCollectionOption, AskedOwnersOption
from llmwiki.retrieval.context import Context
from llmwiki.retrieval.service import retrieve

LimitOption = Annotated[
    int, typer.Option("--limit", min=1, max=100, help="Most passages that are ranked.")
]


def command(
    question: QuestionArgument,
    *,
    collection: AskedCollectionOption = None,
    owner: AskedOwnersOption = None,
    limit: LimitOption = 5,
    wiki: WikiOption = WikiChoice.GATE,
    trace: TraceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find passages by meaning, by words and by identifiers, and name their pages."""

    def work(app: App) -> int:
        settings = app.settings.retrieval.model_copy(update={"limit": limit})
        context = retrieve(
            replace(app.retrieval, settings=settings),
            question,
            owners=owner,
            collection=collection,
            wiki=wiki.value,
            trace=open_trace(app, shown=trace and not as_json),
        )
        if as_json:
            print_json(**dict(context_facts(context, trace=trace)))
        else:
            _print(context)
        return exit_codes.DONE

    run(work)


def _print(context: Context) -> None:
    tell_problems(context)
    if not context.blocks:
        print_problem("no passage was found")
    elif not context.has_evidence:
        print_problem("nothing in the corpus seems to speak of this; these passages come nearest")
    screen = console()
    for anchor in context.anchors:
        screen.print(anchor_lines(anchor), soft_wrap=True)
    for page in context.pages:
        screen.print(page_lines(page, context), soft_wrap=True)
    for block in context.blocks:
        screen.print(block_lines(block), soft_wrap=True)
