"""The sections of the configuration that questions read."""

from datetime import timedelta
from pathlib import Path
from typing import Literal, Self, get_args

from pydantic import Field, SecretStr, model_validator

from llmwiki.config.sections import LONGEST, LONGEST_TIMEOUT, MOST, Section

FusionMethod = Literal["completed-zscore", "rrf", "min-max", "convex"]


class TierWeights(Section):
    """How much each tier counts in the fusion."""

    dense: float = Field(1.0, ge=0, le=1000)
    lexical: float = Field(1.0, ge=0, le=1000)
    identifiers: float = Field(0.3, ge=0, le=1000)

    @model_validator(mode="after")
    def _something_is_searched(self) -> Self:
        if not (self.dense or self.lexical or self.identifiers):
            raise ValueError("every weight is 0, so nothing would be searched; give one a weight")
        return self


class TitleWeights(Section):
    """What a document's title is worth where it is named, in standard scores; 0: nothing."""

    in_question: float = Field(0.6, ge=0, le=1000)
    in_best_chunk: float = Field(1.0, ge=0, le=1000)


class FeedbackSettings(Section):
    """How the best chunks add words to the question before candidates are scored again."""

    chunks: int = Field(10, ge=1, le=50)
    terms: int = Field(20, ge=1, le=100)
    weight: float = Field(
        0.3, ge=0, le=1, description="Of the added words beside those of the question; 0: off."
    )
    fewest_words: int = Field(
        16, ge=0, le=10_000, description="Known words of a question from which on others are added."
    )


class RetrievalSettings(Section):
    """How chunks are found for a question."""

    limit: int = Field(12, ge=1, le=100, description="Chunks of a context.")
    token_budget: int = Field(6000, ge=200, le=MOST, description="Tokens of a context.")
    fusion: FusionMethod = "completed-zscore"
    weights: TierWeights = TierWeights()
    titles: TitleWeights = TitleWeights()
    feedback: FeedbackSettings = FeedbackSettings()
    page_slots: int = Field(3, ge=0, le=20, description="Pages added beside the chunks.")
    lint_max_age: timedelta = Field(
        timedelta(hours=36),
        gt=timedelta(0),
        le=LONGEST,
        description="An older lint closes the wiki's gate.",
    )
    step_back: bool = Field(
        default=True,
        description="Have the model generalise broad questions, when it is free.",
    )
    step_back_ttl: timedelta = Field(timedelta(hours=12), ge=timedelta(0), le=LONGEST)
    provider_timeout: float = Field(
        10.0,
        gt=0,
        le=LONGEST_TIMEOUT,
        description="Seconds that a question waits for its embedding or step-back.",
    )
    exact_below: int = Field(
        20_000,
        ge=0,
        le=MOST,
        description="Up to so many vectors a collection is scanned, not indexed.",
    )
    plans: Path = Field(
        Path("plans"),
        description="Folder of evidence plans, *.yaml, relative to the configuration file.",
    )
    automatic_families: bool = Field(
        default=True,
        description="Keep places for what the question names, beside what plans ask for.",
    )
    authority_tiers: tuple[str, ...] = Field(
        ("official", "approved", "community"),
        min_length=1,
        description="Tiers of authority that plans ask for, the highest first.",
    )
    grade_with_model: bool = Field(
        default=False,
        description="Have the model judge the evidence that plans require, by one call.",
    )
    grade_ttl: timedelta = Field(timedelta(hours=12), ge=timedelta(0), le=LONGEST)


class BlendWeights(Section):
    """How much each signal counts where a cross-encoder or a service scored the candidates."""

    rerank: float = Field(0.4, ge=0, le=1000, description="What the reranker says.")
    fused: float = Field(0.3, ge=0, le=1000, description="The fused score of the tiers.")
    overlap: float = Field(
        0.3, ge=0, le=1000, description="Words of the question, by their rarity."
    )
    exact_token: float = Field(
        0.2, ge=0, le=1000, description="Rare identifiers of the question; on top."
    )


RerankService = Literal["cohere", "jina", "voyage"]
"""Services that rerank, by their vendors; each call of one is counted."""


class RerankSettings(Section):
    """Who puts the best of the candidates first."""

    provider: Literal["fusion", "cross-encoder", "cohere", "voyage", "jina"] = Field(
        "fusion",
        description="fusion: free, the fused order; cross-encoder: an ONNX model of yours; "
        "cohere, voyage, jina: services of that shape.",
    )
    path: Path | None = Field(
        None, description="For cross-encoder: a folder with model.onnx and tokenizer.json."
    )
    model: str | None = Field(None, description="For services.")
    base_url: str | None = Field(
        None, description="For services, up to /rerank; the vendor's own by default."
    )
    api_key: SecretStr | None = None
    deadline: float = Field(
        3.0, gt=0, le=120, description="Seconds; after that the fused order stands."
    )
    max_candidates: int = Field(
        50, ge=2, le=1000, description="Scored at most; the others follow in fused order."
    )
    max_tokens: int = Field(
        512, ge=32, le=32_768, description="For cross-encoder: of a question with its chunk."
    )
    cache_ttl: timedelta = Field(
        timedelta(hours=24),
        ge=timedelta(0),
        le=LONGEST,
        description="For services: how long scores are kept.",
    )
    failure_threshold: int = Field(
        3, ge=1, le=100, description="For services: after so many failures in a row it rests."
    )
    cool_down: timedelta = Field(
        timedelta(minutes=5),
        ge=timedelta(0),
        le=timedelta(days=1),
        description="For services: how long it rests.",
    )
    weights: BlendWeights = BlendWeights()

    @property
    def costs_calls(self) -> bool:
        """Whether a question costs a call of a service."""
        return self.provider in get_args(RerankService)


class AnswerSettings(Section):
    """Who words the answer of `ask`."""

    use_model: bool = Field(
        default=True, description="Ask the generator's model when a call is free."
    )
    max_output_tokens: int = Field(1200, ge=100, le=MOST)
    request_timeout: float = Field(
        60.0, gt=0, le=LONGEST_TIMEOUT, description="Seconds a reader waits for a model."
    )
    cache_ttl: timedelta = Field(
        timedelta(hours=12),
        ge=timedelta(0),
        le=LONGEST,
        description="The same question costs no call.",
    )
