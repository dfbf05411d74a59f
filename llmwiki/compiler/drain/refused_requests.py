"""Keeps what was refused before any answer came: the pages are to blame, or the configuration."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from llmwiki.compiler.drain.faults import as_fault_of_all
from llmwiki.store.queue import QueuedPage

REFUSALS_OF_EVERYTHING = 3
"""After so many refused requests and not one answer, the configuration is to blame. One page
causes two at most: after its pack was refused others are asked, and after half of that pack the
other half."""

RefusedPack = tuple[Sequence[QueuedPage], Exception]


@dataclass(slots=True)
class RefusedRequests:
    """Refused packs without a page in common, until an answer or another refusal tells more."""

    _packs: list[RefusedPack] = field(default_factory=list)
    _refusals: int = 0
    _has_answer: bool = False
    """The service answered a request of this drain, so the configuration is right."""

    def are_in_doubt(self, pages: Sequence[QueuedPage]) -> bool:
        """Tell whether a refusal of these pages may be due to the configuration.

        A page that failed before is no evidence: it may be what made it fail then.
        """
        return not self._has_answer and not any(page.attempts for page in pages)

    def count(self, error: Exception) -> None:
        """Count a refusal. Raises ConfigurationError when everything seems to be refused."""
        self._refusals += 1
        if self._refusals >= REFUSALS_OF_EVERYTHING:
            raise as_fault_of_all(error)

    def add(self, pages: Sequence[QueuedPage], error: Exception) -> None:
        """Keep a refused pack."""
        self._packs.append((pages, error))

    def note_answer(self) -> None:
        """Note that another request was answered: from now on pages are to blame."""
        self._has_answer = True

    def pages(self) -> list[QueuedPage]:
        """Return all pages that are kept here."""
        return [page for pages, _ in self._packs for page in pages]

    def take_packs(self) -> list[RefusedPack]:
        """Take out the packs of several pages, of which halves can be asked for."""
        taken = [each for each in self._packs if len(each[0]) > 1]
        self.forget(taken)
        return taken

    def alone(self) -> list[RefusedPack]:
        """Return the pages that were refused alone, each with the error."""
        return [each for each in self._packs if len(each[0]) == 1]

    def forget(self, packs: Sequence[RefusedPack]) -> None:
        """Let go of packs whose pages are judged."""
        self._packs = [each for each in self._packs if each not in packs]

    def judge(self) -> None:
        """Raise ConfigurationError where different requests were refused and none was answered."""
        if len(self._packs) > 1:
            raise as_fault_of_all(self._packs[-1][1])
