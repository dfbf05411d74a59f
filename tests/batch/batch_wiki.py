"""A wiki whose model is reached by batch, and what the tests ask of its database."""

from dataclasses import replace
from pathlib import Path
from typing import Self

from pydantic import SecretStr
from sqlalchemy import Engine

from jobs import compile_drain, nightly
from jobs.runner import JobResult, Via, run_job
from llmwiki.config import BudgetSettings, CompileSettings, GeneratorSettings, Settings
from tests.support.wiki import HASHING, Wiki, prose

FILES = {
    f"part{number}.md": f"# Part {number}\n\n{prose(f'part{number}')}\n" for number in range(8)
}


class BatchWiki(Wiki):
    """Driven with ``--via batch``; the direct way stays ``drain``."""

    @classmethod
    def over(
        cls,
        engine: Engine,
        folder: Path,
        url: str,
        *,
        pages_per_call: int = 3,
        max_input_tokens: int = 48_000,
        **budget: int,
    ) -> Self:
        """Return a wiki whose model is at this address."""
        settings = Settings(
            embedder=HASHING,
            generator=GeneratorSettings(
                provider="openai",
                model="test",
                base_url=url,
                api_key=SecretStr("key"),
                pages_per_call=pages_per_call,
                max_input_tokens=max_input_tokens,
                max_attempts=1,
            ),
            budget=BudgetSettings(**budget),
            compile=CompileSettings(max_attempts=2),
        )
        return cls(engine, folder, settings)

    def by_batch(self, *, budget: int | None = None) -> JobResult:
        """Run the drain with ``--via batch``."""
        options = replace(self.options(budget=budget), via=Via.BATCH)
        return run_job(self.app, compile_drain.JOB, options, compile_drain.run)

    def night_by_batch(self) -> JobResult:
        """Run the night with ``--via batch``."""
        options = replace(self.options(), via=Via.BATCH)
        return run_job(self.app, nightly.JOB, options, nightly.run)

    def generators(self) -> dict[str, int]:
        """Return how many pages each kind of generator wrote."""
        query = "SELECT generator_kind, count(*) FROM page WHERE kind = 'page' GROUP BY 1"
        return dict(self.rows(query))

    def outcomes(self) -> dict[str | None, int]:
        """Return how many units of the ledger came to which end; None for those under way."""
        return dict(self.rows("SELECT outcome, count(*) FROM call GROUP BY 1"))

    def states(self) -> list[str]:
        """Return the states of the batches, in the order in which they were written."""
        return [row[0] for row in self.rows("SELECT state FROM batch ORDER BY id")]

    def revisions(self) -> list[tuple[int, int]]:
        """Return page and revision, to see whether anything was written."""
        return [(row[0], row[1]) for row in self.rows("SELECT id, revision FROM page ORDER BY id")]
