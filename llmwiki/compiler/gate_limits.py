"""The figures of the gate."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLimits:
    """How much the gate lets pass. Each figure can be configured; the defaults are cautious."""

    max_page_characters: int = 40_000
    """A longer page is refused before anything else is looked at."""
    max_statement_characters: int = 2_000
    """A longer statement of prose is no statement, and is dropped."""
    max_tldr_characters: int = 600
    """A longer summary is replaced."""
    max_tags: int = 8
    """Tags beyond this many are left out."""
    max_dropped_share: float = 0.3
    """A page that loses a greater share of its statements is not to be trusted: refused."""
    min_support_share: float = 0.25
    """A prose statement that shares fewer of its content words with the passages that it cites
    is about something else: dropped. Honest paraphrase shares half of them or more."""
    max_foreign_script_share: float = 0.2
    """A statement with a greater share of letters of a script that its passages do not use is
    in another language: dropped."""
    min_share_of_previous: float = 0.3
    """A page shorter than this share of the page that it replaces is refused, unless its sources
    shrank to less than that page: then it is measured against them."""
    min_share_of_sources: float = 0.01
    """A page shorter than this share of its sources says next to nothing of them: refused."""
    max_share_of_sources: float = 1.5
    """A page longer than this many times its sources is padding, and is refused."""
    padding_allowance: int = 500
    """Characters that a page may have in any case, however short its sources are."""
