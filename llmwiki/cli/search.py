"""`llmwiki search`: chunks that answer a question, with the pages that they belong to."""

from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from jobs.entry import JsonOption
from llmwiki.bootstrap import App
from llmwiki.cli.asking import (
    QuestionArgument,
    TraceOption,
    WikiChoice,
    WikiOption,
    run_question,
)
from llmwiki.cli.context_facts import context_facts
from llmwiki.cli.context_lines import block_lines, print_context, tell_problems
from llmwiki.cli.output import print_problem
from llmwiki.cli.selection import AskedCollectionOption, AskedOwnersOption
from llmwiki.retrieval.context import Context
from llmwiki.retrieval.events import Trace
from llmwiki.retrieval.service import retrieve

LimitOption = Annotated[
    int, typer.Option("--limit", min=1, max=100, help="Most chunks that are ranked.")
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
    """Find chunks by meaning, by words and by identifiers, and name their pages."""

    def find(app: App, tracing: Trace) -> Context:
        settings = app.settings.retrieval.model_copy(update={"limit": limit})
        return retrieve(
            replace(app.retrieval, settings=settings),
            question,
            owners=owner,
            collection=collection,
            wiki=wiki.value,
            trace=tracing,
        )

    facts = partial(context_facts, trace=trace)
    run_question(find, _print, facts, trace=trace, as_json=as_json)


def _print(context: Context) -> None:
    tell_problems(context)
    if not context.blocks:
        print_problem("no chunk was found")
    elif not context.has_evidence:
        print_problem("nothing in the corpus seems to speak of this; these chunks come nearest")
    print_context(context, map(block_lines, context.blocks), pages_first=True)
