"""The configuration: frozen, closed, and the only reader of the environment and llmwiki.toml.

Precedence: command line, environment (``LLMWIKI_…``, nested with ``__``), llmwiki.toml in the
working directory or where ``LLMWIKI_CONFIG`` points, defaults.
"""

import os
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from llmwiki.config.retrieval import AnswerSettings, RerankSettings, RetrievalSettings
from llmwiki.config.sections import (
    BudgetSettings,
    CompileSettings,
    EmbedderSettings,
    GeneratorSettings,
    IngestSettings,
    OverviewSettings,
    ScheduleSettings,
)
from llmwiki.errors import ConfigurationError

CONFIG_FILE_VARIABLE = "LLMWIKI_CONFIG"
DEFAULT_CONFIG_FILE = "llmwiki.toml"


class Settings(BaseSettings):
    """Everything that can be configured. Unknown keys are errors."""

    model_config = SettingsConfigDict(
        env_prefix="LLMWIKI_", env_nested_delimiter="__", extra="forbid", frozen=True
    )

    database_url: str | None = Field(
        None, description="postgresql://… with pgvector, or embedded:PATH."
    )
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["console", "json"] = "console"
    ingest: IngestSettings = IngestSettings()
    overview: OverviewSettings = OverviewSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    generator: GeneratorSettings = GeneratorSettings()
    budget: BudgetSettings = BudgetSettings()
    compile: CompileSettings = CompileSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    rerank: RerankSettings = RerankSettings()
    answer: AnswerSettings = AnswerSettings()

    @model_validator(mode="after")
    def _lease_outlasts_a_request(self) -> Self:
        needed = longest_request(self.generator)
        if self.generator.provider != "extractive" and self.compile.lease < needed:
            message = (
                f"compile.lease is {self.compile.lease}, but one request can take {needed}: raise "
                "the lease, or lower generator.request_timeout or generator.max_attempts"
            )
            raise ValueError(message)
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put llmwiki.toml below the environment; neither .env files nor secret folders."""
        del dotenv_settings, file_secret_settings
        toml = TomlConfigSettingsSource(settings_cls, toml_file=config_file())
        return init_settings, env_settings, toml


def longest_request(generator: GeneratorSettings) -> timedelta:
    """Return how long one request can take: every attempt at its limit, and every wait.

    An attempt is given up after the time-out, twice that where its body trickles and then stalls;
    a provider is waited for 120 seconds at most (see ``providers.retries``).
    """
    attempts = generator.max_attempts * (2 * generator.request_timeout + 10)
    return timedelta(seconds=attempts + (generator.max_attempts - 1) * 120.5)


def config_file() -> Path:
    """Return the path of the configuration file, whether it exists or not."""
    return Path(os.environ.get(CONFIG_FILE_VARIABLE, DEFAULT_CONFIG_FILE))


def load_settings() -> Settings:
    """Read the configuration.

    Raises ConfigurationError that names the file or the variable, what is wrong with it, and
    what would be right.
    """
    named = os.environ.get(CONFIG_FILE_VARIABLE)
    if named and not Path(named).is_file():
        raise ConfigurationError(f"{CONFIG_FILE_VARIABLE} names {named}, which is not a file")
    try:
        return Settings()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{config_file()} is not valid TOML: {error}") from error
    except ValidationError as error:
        raise ConfigurationError(_describe(error)) from error


def _describe(error: ValidationError) -> str:
    lines = []
    for problem in error.errors(include_url=False):
        parts = [str(part) for part in problem["loc"]]
        variable = "LLMWIKI_" + "__".join(parts).upper()
        told = problem["msg"].removeprefix("Value error, ")
        if parts:
            told = f"{'.'.join(parts)}: {told} (set in {config_file()} or {variable})"
        lines.append(told)
    return "configuration: " + "; ".join(lines)
