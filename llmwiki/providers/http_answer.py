"""An answer over HTTP, read to its end, of services that have no client of their own here."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """What a service says a request cost; named as in OpenAI's protocol."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class HttpAnswer:
    """Status, headers with lower-case names, and the text of the body."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str

    @property
    def succeeded(self) -> bool:
        """Whether the status says that this is what was asked for."""
        return 200 <= self.status < 300

    @cached_property
    def body(self) -> object:
        """The JSON value of the body; None for what is no JSON."""
        try:
            value: object = json.loads(self.text)
        except (ValueError, RecursionError):
            return None
        return value

    @property
    def usage(self) -> TokenCounts:
        """The tokens of the request where the body tells them.

        As ``usage.prompt_tokens`` or ``usage.total_tokens`` (Jina, Voyage), or as
        ``meta.tokens.input_tokens`` (Cohere).
        """
        usage = member(self.body, "usage")
        tokens = member(member(self.body, "meta"), "tokens")
        counts = (
            member(usage, "prompt_tokens"),
            member(usage, "total_tokens"),
            member(tokens, "input_tokens"),
        )
        known = [count for count in counts if type(count) is int]
        return TokenCounts(prompt_tokens=known[0] if known else None)


def member(value: object, name: str) -> object:
    """Return a member of a JSON object; None of anything else."""
    return value.get(name) if isinstance(value, Mapping) else None
