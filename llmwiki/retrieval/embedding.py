"""Embeds the question. An embedder that fails leaves the tiers that need no vector at work."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from llmwiki.domain import Collection, EmbedderIdentity, Usage
from llmwiki.errors import BudgetExhaustedError, QuotaExhaustedError
from llmwiki.ports import Embedder, Vectors
from llmwiki.retrieval.events import Detail, Trace
from llmwiki.retrieval.failures import SURVIVED, as_told


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedDetail(Detail):
    """Which vector space the question was embedded in."""

    kind: Literal["embed"] = "embed"
    embedder: str
    dimension: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionVector:
    """A question in a vector space, shape (dimension,)."""

    values: Vectors
    space: EmbedderIdentity


def embed_question(
    query: str, collections: Sequence[Collection], embedder: Embedder, trace: Trace
) -> QuestionVector | None:
    """Return the vector of the query, or None where there can be none.

    Never raises for what an embedder does.
    """
    with trace.step("embed") as step:
        try:
            identity = embedder.identity
            if all(collection.embedder != identity for collection in collections):
                step.skip(
                    "other-embedder",
                    f"the vectors are of {collections[0].embedder.name}, and {identity.name} is "
                    f"configured; run `llmwiki reembed --collection {collections[0].name}`",
                )
                return None
            vector = QuestionVector(values=embedder.embed([query])[0], space=identity)
        except (BudgetExhaustedError, QuotaExhaustedError) as error:
            step.skip("quota", str(error))
        except SURVIVED as error:
            told = as_told(error)
            step.fail(told, usage=Usage(embed_calls=told.calls))
        else:
            step.done(
                EmbedDetail(embedder=identity.name, dimension=identity.dimension),
                usage=Usage(embed_calls=int(identity.name.startswith("openai:"))),
            )
            return vector
    return None
