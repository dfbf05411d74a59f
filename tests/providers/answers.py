"""All answers of providers, and what the drain does after each.

test_classification.py sends every one over HTTP to the real client, and tests/kills sends it to
the whole drain. The table in the documentation is made from the same data:

    python -m tests.providers.answers > docs/provider-answers.md
"""

import sys
from typing import NamedTuple, assert_never

from llmwiki.domain import StoppedReason
from llmwiki.providers.classification import REFUSED
from llmwiki.providers.error_signals import LONGEST_WAIT
from tests.providers.answer_case import Case
from tests.providers.failure_answers import CONFIGURATION, FAILURES
from tests.providers.limit_answers import LIMITS, QUOTAS_GONE
from tests.providers.request_answers import REQUESTS

CASES = [*QUOTAS_GONE, *LIMITS, *FAILURES, *CONFIGURATION, *REQUESTS]


class Effect(NamedTuple):
    """What the drain does when every request of a night is answered like this."""

    drain: str
    stopped: StoppedReason | None
    """None where it breaks off."""
    exit_code: int


_QUOTA = Effect("asks no more; every page stays in the queue, unblamed", "quota", 3)
_LIMIT = Effect(
    "pauses and sends again, twice; the third limit without a hint counts as a lost quota",
    "quota",
    3,
)
_DELAY = Effect(
    "waits {seconds} s or longer and sends again; when the attempts are used up, the pages count "
    "a failure; after two such requests it stops",
    "outage",
    1,
)
_FAILURE = Effect(
    "pauses and sends again; when the attempts are used up, the pages count a failure; after two "
    "such requests it stops",
    "outage",
    1,
)
_REFUSAL = Effect(
    "halves the pack, so that the others are written; a page that is refused alone counts a "
    "failure; after two such pages in a row it stops",
    "outage",
    1,
)
_DOUBT = Effect(
    "asks for other pages, and for halves where there are none; blames the page where one is "
    "answered; after three refusals and no answer breaks off, no page is blamed",
    None,
    2,
)
_CONFIGURATION = Effect("breaks off and says what to set; no page is blamed", None, 2)


def effect_of(case: Case) -> Effect:
    """Return what the drain does with the answer."""
    match case.kind:
        case "stop-quota":
            return _QUOTA
        case "stop-configuration":
            return _DOUBT if case.reason == REFUSED else _CONFIGURATION
        case "wait":
            return _LIMIT if case.seconds is None else _DELAY
        case "retry":
            return _FAILURE
        case "invalid":
            return _REFUSAL
        case _:
            assert_never(case.kind)


def main() -> None:
    """Print the table."""
    sys.stdout.write(document())


def document() -> str:
    """Return the documentation of all cases."""
    head = f"""# What services answer, and what the drain does

A wrong wait burns the day's calls one by one against a quota that is gone until tomorrow; a
wrong stop loses a night. Each attempt takes a unit of the ledger before it is sent and settles
it with an outcome, which is the reason given here. A page that is not written keeps its last
text. Nothing is waited for longer than {LONGEST_WAIT:.0f} seconds.

The last columns tell how a night ends whose every request is answered like this. Each row is
a test over HTTP through the real client, in `tests/providers/test_classification.py`, and
through the whole drain, in `tests/kills/test_answers.py`. The table is made from their data in
`tests/providers/answers.py`.

| | The answer | Status | Ledger | What the drain does | Stopped | Exit |
|---|---|---|---|---|---|---|
"""
    return head + "".join(_row(number, case) for number, case in enumerate(CASES, start=1))


def _row(number: int, case: Case) -> str:
    effect = effect_of(case)
    cells = (
        str(number),
        case.name.replace("-", " "),
        "none" if case.answer.reset else str(case.answer.status),
        f"`{case.reason}`",
        effect.drain.replace("{seconds}", f"{case.seconds or 0:g}"),
        effect.stopped or "",
        str(effect.exit_code),
    )
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    main()
