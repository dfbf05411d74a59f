"""All bad answers of a model, and what becomes of each.

test_bad_answers.py sends every one through the reader and the gate. The table in the
documentation is made from the same data:

    python -m tests.compiler.bad_answers > docs/bad-answers.md
"""

import sys
from collections.abc import Mapping

from llmwiki.compiler.answer import PROBLEMS
from llmwiki.grounding.page_rules import REFUSALS, REPAIRS
from llmwiki.grounding.statement_rules import REASONS
from tests.compiler.bad_answer import READ, Outcome
from tests.compiler.bad_markup import INJECTIONS, MARKUP
from tests.compiler.bad_pages import FORM, NO_ANSWER, SMALL_PARTS, WRONG_PAGE
from tests.compiler.bad_statements import BLOCKS, CITATIONS, DETAILS, LANGUAGE, TALK, TEXT

MEANINGS: Mapping[str, str] = {
    **PROBLEMS,
    **REFUSALS,
    **REASONS,
    **REPAIRS,
    READ: "only the form is wrong; the page is read as it was meant",
}

BAD_ANSWERS = (
    *NO_ANSWER,
    *WRONG_PAGE,
    *CITATIONS,
    *DETAILS,
    *BLOCKS,
    *TALK,
    *MARKUP,
    *INJECTIONS,
    *LANGUAGE,
    *TEXT,
    *SMALL_PARTS,
    *FORM,
)

_EFFECTS: Mapping[Outcome, str] = {
    "refused": "page refused",
    "dropped": "statement dropped",
    "repaired": "repaired",
}


def document() -> str:
    """Return the page of the documentation."""
    rows = (
        f"| {number} | {case.name} | {_EFFECTS[case.outcome]} | `{case.code}` "
        f"| {MEANINGS[case.code]} |"
        for number, case in enumerate(BAD_ANSWERS, start=1)
    )
    return "\n".join(
        (
            "# Bad answers, and what becomes of them",
            "",
            "A model's answer is read page by page and passes a gate before anything is written.",
            "A page that is refused keeps its last good text and stays stale; the other pages of",
            "the answer are not touched. Each row is a test in `tests/compiler/bad_answers.py`,",
            "from which this table is made.",
            "",
            "| | The answer | What happens | Reason | Because |",
            "|---|---|---|---|---|",
            *rows,
            "",
        )
    )


if __name__ == "__main__":
    sys.stdout.write(document())
