"""Tables of named configurations, each run in one go and compared with one of its rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llmwiki.evaluation.configurations import CONFIGURED, Configuration, configure
from llmwiki.evaluation.measures import COMPLETE, CONTEXT_RECALL, FAMILY_RECALL, RELEVANCE


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


NO_PLANS = "plans=/nonexistent"
"""A folder of plans that does not exist has none."""

PLAIN = (
    "titles.in_question=0",
    "titles.in_best_chunk=0",
    "feedback.weight=0",
    "automatic_families=false",
    NO_PLANS,
)
"""Nothing but the tiers and their fusion."""

TABLES: Mapping[str, Table] = {
    "fusion": Table(
        rows={
            "dense alone": ("weights.lexical=0", "weights.identifiers=0", *PLAIN),
            "lexical alone": ("weights.dense=0", "weights.identifiers=0", *PLAIN),
            "rrf": ("fusion=rrf", *PLAIN),
            "min-max": ("fusion=min-max", *PLAIN),
            "convex": ("fusion=convex", *PLAIN),
            "completed-zscore": ("fusion=completed-zscore", *PLAIN),
            CONFIGURED: (),
        },
        reference=CONFIGURED,
        measures=(RELEVANCE[0],),
    ),
    "parts": Table(
        rows={
            "without dense": ("weights.dense=0",),
            "without lexical": ("weights.lexical=0",),
            "without identifiers": ("weights.identifiers=0",),
            "without titles": PLAIN[:2],
            "without feedback": ("feedback.weight=0",),
            "without families": ("automatic_families=false", NO_PLANS),
            CONFIGURED: (),
        },
        reference=CONFIGURED,
        measures=(RELEVANCE[0],),
    ),
    "families": Table(
        rows={
            "top-k": ("automatic_families=false", NO_PLANS),
            "MMR .7": ("automatic_families=false", NO_PLANS, "mmr=0.7"),
            "automatic families": ("automatic_families=true", NO_PLANS),
            "declared plans": ("automatic_families=false",),
            "plans and automatic": ("automatic_families=true",),
        },
        reference="top-k",
        measures=(*FAMILY_RECALL.values(), *COMPLETE.values(), RELEVANCE[0]),
    ),
    "wiki": Table(
        rows={"wiki off": ("wiki=off",), "wiki on": ("wiki=on",)},
        reference="wiki off",
        measures=(CONTEXT_RECALL, *FAMILY_RECALL.values(), RELEVANCE[0]),
    ),
}
"""What `llmwiki evaluate --table` offers: fusions; the pipeline without one part at a time; ways to
a complete context; the wiki beside the chunks."""
