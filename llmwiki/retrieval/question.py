"""What a question is: checked as input, and told apart by what helps to answer it.

Three routes, none of which costs a call: one that names identifiers needs no transform, a broad
one is served from the overview and may be generalised, anything else is asked as it stands.
"""

import re
from dataclasses import dataclass
from typing import Literal

from llmwiki.errors import UsageError
from llmwiki.retrieval.events import Detail, Trace
from llmwiki.text.identifiers import find_identifiers

LONGEST_QUESTION = 4_000
"""Characters. What is longer is a document, and would be cut by the embedder without a word."""

SHORTEST_BROAD_QUESTION = 12
"""Characters. What is shorter is a greeting or a single word, not a question to generalise."""

MOST_SUBJECTS = 3
"""Words beside the question's form that a broad question may have; more are particulars."""

Route = Literal["identifier", "broad", "specific"]

_GREETING = re.compile(
    r"(hi|hello|hey|thanks|thank you|good (morning|afternoon|evening|day)|ok(ay)?|bye)\b[\s\w!.,]*",
    re.IGNORECASE,
)
_ASKS_FOR_AN_OVERVIEW = re.compile(
    r"\b(overview|introduction|getting started|get started|quick ?start|big picture|basics"
    r"|in general|in a nutshell|tell me about|summari[sz]e|at a glance)\b",
    re.IGNORECASE,
)
_GENERAL_FORM = re.compile(
    r"(how (do|can|should|would) (i|we|you|one) (use|start|begin|work with)"
    r"|how to (use|start|begin|work with)"
    r"|how (do|does) [\w\s.-]{1,40} work"
    r"|what (is|are|does|do|can)|what's|why (use|would|should)|when (should|to) (i |we |you )?use"
    r"|explain|describe|who is)\b",
    re.IGNORECASE,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PARTICULAR = _words("""
    argument arguments command commands default defaults difference error errors exact field flag
    flags format header key length limit maximum max method minimum min name number option options
    parameter path port schema setting size status syntax timeout type units url value values
    variable version
""")
_FORM_WORDS = _words("""
    a about actually an and are at be begin can describe do does exactly explain for from general
    get getting good have help how i in introduction is it its main me my of on one or our overview
    please purpose should start started tell that the there this to use used using we what what's
    when which who why with work works would you your basics
""")
_WORD = re.compile(r"[^\W_][\w'.-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteDetail(Detail):
    """Which way a question goes."""

    kind: Literal["route"] = "route"
    route: Route
    identifiers: tuple[str, ...]


def check_question(question: str) -> str:
    """Return the question as it will be asked.

    Raises UsageError for one that is empty, or so long that an embedder would cut it.
    """
    # A command line that is not UTF-8 arrives with surrogates, which no database takes.
    asked = question.encode(errors="replace").decode().replace("\x00", " ").strip()
    if not asked:
        raise UsageError("the question is empty; ask in a few words what you look for")
    if len(asked) > LONGEST_QUESTION:
        raise UsageError(
            f"the question has {len(asked)} characters; ask in {LONGEST_QUESTION} at most"
        )
    return asked


def is_broad_query(question: str) -> bool:
    """Tell whether the question is a real one, general, and short of particulars.

    Generalising helps these ("how do I use it", "what is …", "getting started"); generalising
    one that asks for a particular ("what is the default port") would lose what it asks for.
    """
    text = " ".join(question.replace("\u2019", "'").split())
    if len(text) < SHORTEST_BROAD_QUESTION or _GREETING.fullmatch(text):
        return False
    if find_identifiers(text):
        return False
    named = subjects(text)
    if any(word in _PARTICULAR or word.isdecimal() for word in named):
        return False
    if len(named) > MOST_SUBJECTS:
        return False
    return bool(_ASKS_FOR_AN_OVERVIEW.search(text) or _GENERAL_FORM.match(text))


def subjects(question: str) -> list[str]:
    """Return the words of a question beside its form, in lower case."""
    words = (word.lower().rstrip(".'-") for word in _WORD.findall(question))
    return [word for word in words if word not in _FORM_WORDS]


def find_route(question: str) -> Route:
    """Return the way that a checked question goes."""
    if find_identifiers(question):
        return "identifier"
    return "broad" if is_broad_query(question) else "specific"


def trace_route(question: str, trace: Trace) -> Route:
    """Return the way that the question goes, and tell it."""
    with trace.step("route") as step:
        route = find_route(question)
        step.done(RouteDetail(route=route, identifiers=find_identifiers(question)))
    return route
