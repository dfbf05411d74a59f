"""The configuration: frozen, closed, and the only reader of the environment and llmwiki.toml."""

from llmwiki.config.retrieval import (
    AnswerSettings,
    BlendWeights,
    RerankSettings,
    RetrievalSettings,
)
from llmwiki.config.sections import (
    BudgetSettings,
    CompileSettings,
    EmbedderSettings,
    GateLimits,
    GeneratorSettings,
    IngestSettings,
    MetadataRule,
    OverviewSettings,
    ScheduleSettings,
)
from llmwiki.config.settings import Settings, config_file, load_settings

__all__ = [
    "AnswerSettings",
    "BlendWeights",
    "BudgetSettings",
    "CompileSettings",
    "EmbedderSettings",
    "GateLimits",
    "GeneratorSettings",
    "IngestSettings",
    "MetadataRule",
    "OverviewSettings",
    "RerankSettings",
    "RetrievalSettings",
    "ScheduleSettings",
    "Settings",
    "config_file",
    "load_settings",
]
