"""`llmwiki ask`: an answer that says what it is, with the chunks that it stands on."""

from functools import partial
from typing import Any

from jobs.entry import JsonOption
from llmwiki.answering.answer import Answer
from llmwiki.answering.service import answer_question
from llmwiki.bootstrap import App
from llmwiki.cli.asking import (
    QuestionArgument,
    TraceOption,
    WikiChoice,
    WikiOption,
    run_question,
)
from llmwiki.cli.context_facts import context_facts
from llmwiki.cli.context_lines import (
    anchor_lines,
    block_lines,
    cited_blocks,
    print_context,
    tell_problems,
)
from llmwiki.cli.output import moment, print_line, print_problem
from llmwiki.cli.selection import AskedCollectionOption, AskedOwnersOption
from llmwiki.retrieval.context import Context, ContextBlock
from llmwiki.retrieval.events import Trace

CHUNKS_SHOWN = 5
"""Of a context, where no model chose among them; required evidence is shown beside them."""


def command(
    question: QuestionArgument,
    *,
    collection: AskedCollectionOption = None,
    owner: AskedOwnersOption = None,
    wiki: WikiOption = WikiChoice.GATE,
    trace: TraceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question: in a model's words when a call is free, else with the chunks."""

    def find(app: App, tracing: Trace) -> Answer:
        return answer_question(
            app.answering,
            question,
            owners=owner,
            collection=collection,
            wiki=wiki.value,
            trace=tracing,
        )

    run_question(find, _print, partial(_facts, trace=trace), trace=trace, as_json=as_json)


def _print(answer: Answer) -> None:
    tell_problems(answer.context)
    match answer.method:
        case "model":
            _print_statements(answer)
        case "chunks":
            _print_chunks(answer)
        case "not-in-corpus":
            _print_not_in_corpus(answer)
    for family in answer.context.missing_families:
        print_line(f"Missing evidence: {family}.")


def _print_not_in_corpus(answer: Answer) -> None:
    print_line(f"Not in the corpus. {_nearest(answer)}")
    if answer.context.anchors:
        # Only a broad question has them; what it may be after is no chunk at all.
        print_line("The question is a broad one. What the corpus is about, by its overview:")
        print_line()
        for anchor in answer.context.anchors:
            print_line(anchor_lines(anchor))


def _nearest(answer: Answer) -> str:
    if not answer.context.blocks:
        return "No chunk was found."
    nearest = answer.context.blocks[0].citation
    return f"The nearest chunk is {nearest}; `llmwiki search` shows what else comes near."


def _print_statements(answer: Answer) -> None:
    cited: set[int] = set()
    for statement in answer.statements:
        numbers = answer.blocks_of(statement)
        cited.update(numbers)
        print_line(f"{statement.text} {''.join(f'[{number}]' for number in numbers)}")
        print_line()
    for block in answer.context.blocks:
        if block.number in cited:
            print_line(f"[{block.number}] {block.citation}")
    if answer.dropped:
        print_problem(
            f"{len(answer.dropped)} statements of the model were dropped: the chunks do not "
            "bear them out"
        )


def _print_chunks(answer: Answer) -> None:
    print_line(f"{_why_no_words(answer)} What the documentation says:")
    print_line()
    context = answer.context
    shown, left = _chosen(context)
    blocks = [block_lines(block, characters=None) for block in shown]
    # An overview answers a broad question best; for any other the chunks come first.
    print_context(context, blocks, pages_first=context.route == "broad")
    cited = {
        number
        for page in context.pages
        for statement in page.statements
        for number in cited_blocks(statement, context.blocks)
    }
    for block in left:
        if block.number in cited:
            print_line(f"[{block.number}] {block.citation}")
    if left:
        print_line(f"{len(left)} more chunks were found; `llmwiki search` and --json show them.")


def _chosen(context: Context) -> tuple[list[ContextBlock], list[ContextBlock]]:
    """Return the blocks to print whole, the best and the required evidence, and the others."""
    shown = [
        block
        for place, block in enumerate(context.blocks)
        if place < CHUNKS_SHOWN or context.witnesses.intersection(block.chunk_ids)
    ]
    numbers = {block.number for block in shown}
    return shown, [block for block in context.blocks if block.number not in numbers]


def _why_no_words(answer: Answer) -> str:
    """Tell why no model words the answer; whether one was asked makes a difference."""
    if answer.reason in {"failed", "not-answered", "unsupported"}:
        return f"The model's answer is not used: {answer.message}."
    # The ledger's own message tells when its day ends.
    known = "until" in (answer.message or "")
    returns = f" Calls return at {moment(answer.resets_at)}." if answer.resets_at else ""
    return f"No model was used: {answer.message}.{'' if known else returns}"


def _facts(answer: Answer, *, trace: bool) -> dict[str, Any]:
    facts = context_facts(answer.context, trace=False)
    facts |= {
        "method": answer.method,
        "reason": answer.reason,
        "message": answer.message,
        "resets_at": answer.resets_at,
        "statements": [
            {
                "text": statement.text,
                "kind": statement.kind,
                "citations": list(answer.blocks_of(statement)),
                "chunk_ids": list(statement.chunk_ids),
            }
            for statement in answer.statements
        ],
        "dropped": [{"text": each.text, "reason": each.reason} for each in answer.dropped],
    }
    if trace:
        facts["events"] = [event.facts() for event in answer.events]
    return facts
