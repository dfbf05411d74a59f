"""What a rule is: a code, what it demands, and a pure function from facts to violations."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from llmwiki.domain import PageId, Severity
from llmwiki.store.lint_facts import PageFacts

Facts = TypeVar("Facts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One fault. Without a severity of its own it has that of its rule."""

    message: str
    slug: str | None = None
    page_id: PageId | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Generic[Facts]):
    """A rule over facts of one kind."""

    code: str
    severity: Severity
    """The gravest that its findings can have."""
    description: str
    check: Callable[[Facts], Iterable[Violation]]


def rule(
    code: str, severity: Severity, description: str
) -> Callable[[Callable[[Facts], Iterable[Violation]]], Rule[Facts]]:
    """Make a rule of the decorated check."""

    def wrap(check: Callable[[Facts], Iterable[Violation]]) -> Rule[Facts]:
        return Rule(code=code, severity=severity, description=description, check=check)

    return wrap


def about(page: PageFacts, message: str, severity: Severity | None = None) -> Violation:
    """Return a violation of one page; the message goes on from its name."""
    return Violation(
        message=f"page `{page.slug}` {message}",
        slug=page.slug,
        page_id=page.id,
        severity=severity,
    )
