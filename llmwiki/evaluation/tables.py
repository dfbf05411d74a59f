"""Tables of named configurations, each run in one go and compared with one of its rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llmwiki.evaluation.configurations import CONFIGURED, Configuration, configure
from llmwiki.evaluation.measures import COMPLETE, FAMILY_RECALL, RELEVANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows by name with the settings of each, and the measures that are shown."""

    rows: Mapping[str, Sequence[str]]
    reference: str
    """The row that the others are compared with."""
    measures: tuple[str, ...]

    def configurations(self, base: Configuration) -> tuple[Configuration, ...]:
        """Return the configurations of the rows."""
        return tuple(configure(base, name, overrides) for name, overrides in self.rows.items())


TABLES: Mapping[str, Table] = {
    "fusion": Table(
        rows={
            "dense alone": ("weights.lexical=0", "weights.identifiers=0"),
            "lexical alone": ("weights.dense=0", "weights.identifiers=0"),
            "rrf": ("fusion=rrf",),
            "min-max": ("fusion=min-max",),
            "convex": ("fusion=convex",),
            "completed-zscore": ("fusion=completed-zscore",),
            CONFIGURED: (),
        },
        reference=CONFIGURED,
        measures=(RELEVANCE[0],),
    ),
    "wiki": Table(
        rows={"wiki off": ("wiki=off",), "wiki on": ("wiki=on",)},
        reference="wiki off",
        measures=(RELEVANCE[0], *FAMILY_RECALL.values(), *COMPLETE.values()),
    ),
}
"""What `llmwiki evaluate --table` offers."""
