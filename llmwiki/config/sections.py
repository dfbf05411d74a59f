"""The sections of the configuration that the nightly jobs read."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

MOST = 1_000_000_000
"""Of whatever is counted: calls, tokens, bytes, chunks. The database counts to twice that."""

LONGEST_TIMEOUT = 86_400.0
"""Seconds."""

LONGEST = timedelta(days=3650)
"""Of any other time. Added to a date it still is one."""


class Section(BaseModel):
    """A group of settings: closed, so that a misspelt key is an error, and finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class MetadataRule(Section):
    """Metadata for the documents whose path matches a glob; later rules override earlier ones."""

    path: str = Field(description="Glob over the document's path, as `security/**/*.md`.")
    evidence_family: str | None = None
    authority_tier: str | None = None
    version: str | None = None


class IngestSettings(Section):
    """How documents become chunks."""

    chunk_tokens: int = Field(200, ge=40, le=2000, description="Target size of a child chunk.")
    max_file_bytes: int = Field(20_000_000, ge=1, le=MOST, description="A larger file is reported.")
    rules: tuple[MetadataRule, ...] = ()


class OverviewSettings(Section):
    """How chunks become topics."""

    topic_tokens: int = Field(3000, ge=200, le=MOST, description="Most source tokens of one topic.")
    small_document_tokens: int = Field(
        400, ge=0, le=MOST, description="Smaller documents share a topic with their siblings."
    )


class EmbedderSettings(Section):
    """Which vector space is used; after a change run `llmwiki reembed`."""

    provider: Literal["minilm", "onnx", "hashing", "openai"] = Field(
        "minilm",
        description="minilm: offline model in a package; onnx: a folder of yours; hashing: "
        "words only, no model; openai: any compatible service.",
    )
    model: str = Field("text-embedding-3-small", description="For provider openai.")
    dimension: int | None = Field(
        None, ge=1, le=16_000, description="For openai models that can shorten."
    )
    path: Path | None = Field(None, description="For provider onnx: model.onnx, tokenizer.json.")
    base_url: str | None = None
    api_key: SecretStr | None = None
    batch_size: int = Field(64, ge=1, le=2048)


class GeneratorSettings(Section):
    """Who writes the pages."""

    provider: Literal["extractive", "openai"] = "extractive"
    model: str | None = Field(None, description="Required for provider openai.")
    base_url: str | None = None
    api_key: SecretStr | None = None
    request_timeout: float = Field(
        600.0,
        gt=0,
        le=LONGEST_TIMEOUT,
        description="Seconds for one HTTP attempt; an answer of many pages takes long.",
    )
    max_attempts: int = Field(6, ge=1, le=100, description="HTTP attempts for one request at most.")
    pages_per_call: int = Field(
        20, ge=1, le=MOST, description="Topics in one request; 1 switches it off."
    )
    max_input_tokens: int = Field(
        48_000,
        ge=2000,
        le=MOST,
        description="Of one request, estimated; leave a quarter of the model's window free.",
    )
    max_output_tokens: int = Field(24_000, ge=200, le=MOST, description="Of one answer.")


class BudgetSettings(Section):
    """Calls a day. A call is one HTTP attempt; nothing is refunded."""

    chat_calls_per_day: int = Field(20, ge=0, le=MOST)
    chat_calls_per_night: int = Field(
        15, ge=0, le=MOST, description="The night's share of the day."
    )
    chat_calls_for_questions: int | None = Field(
        None, ge=0, le=MOST, description="The questions' share of the day; unset: all that is left."
    )
    embed_calls_per_day: int = Field(1000, ge=0, le=MOST)
    rerank_calls_per_day: int = Field(1000, ge=0, le=MOST)
    time_zone: str = Field("UTC", description="Where the provider's day begins, as US/Pacific.")

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError) as error:
            message = f"no time zone is named {value!r}"
            raise ValueError(message) from error
        return value


Characters = Annotated[int, Field(ge=0, le=MOST)]
Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLimits:
    """How much the gate lets pass. Each figure can be configured; the defaults are cautious."""

    max_page_characters: Characters = 40_000
    """A longer page is refused before anything else is looked at."""
    max_statement_characters: Characters = 2_000
    """A longer statement of prose is no statement, and is dropped."""
    max_tldr_characters: Characters = 600
    """A longer summary is replaced."""
    max_tags: Annotated[int, Field(ge=0, le=MOST)] = 8
    """Tags beyond this many are left out."""
    max_dropped_share: Share = 0.3
    """A page that loses a greater share of its statements is not to be trusted: refused."""
    min_support_share: Share = 0.25
    """A prose statement that shares fewer of its content words with the chunks that it cites
    is about something else: dropped. Honest paraphrase shares half of them or more."""
    max_foreign_script_share: Share = 0.2
    """A statement with a greater share of letters of a script that its chunks do not use is
    in another language: dropped."""
    min_share_of_previous: Share = 0.3
    """A page shorter than this share of the page that it replaces is refused, unless its sources
    shrank to less than that page: then it is measured against them."""
    min_share_of_sources: Share = 0.01
    """A page shorter than this share of its sources says next to nothing of them: refused."""
    max_share_of_sources: Annotated[float, Field(ge=0, le=1000)] = 1.5
    """A page longer than this many times its sources is padding, and is refused."""
    padding_allowance: Characters = 500
    """Characters that a page may have in any case, however short its sources are."""


class CompileSettings(Section):
    """The drain and its gate."""

    max_attempts: int = Field(
        3, ge=1, le=MOST, description="Failures before a page is quarantined."
    )
    retry_after: timedelta = Field(
        timedelta(hours=12), ge=timedelta(0), le=LONGEST, description="Wait after a failure."
    )
    lease: timedelta = Field(
        timedelta(hours=2, minutes=30),
        gt=timedelta(0),
        le=LONGEST,
        description="Longer than one request with all its attempts and waits can take.",
    )
    deadline: timedelta | None = Field(
        None, ge=timedelta(0), le=LONGEST, description="Stop claiming after this long."
    )
    gate: GateLimits = GateLimits()


class ScheduleSettings(Section):
    """For the resident scheduler; cron needs none of it."""

    nightly: str = Field("0 2 * * *", description="Crontab expression of the nightly job.")
    time_zone: str = "UTC"
