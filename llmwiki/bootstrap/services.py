"""Opens the services that cost calls: embeddings, conversations, reranking.

Apart from ``opening``, since the client of these services takes a second to import, and most
commands ask none.
"""

from pydantic import SecretStr

from llmwiki.config import Settings
from llmwiki.config.retrieval import RerankService
from llmwiki.errors import ConfigurationError
from llmwiki.ports import CallMeter, ChatModel, Clock, Embedder, Reranker
from llmwiki.providers.openai_chat import OpenAIChat
from llmwiki.providers.openai_client import open_client
from llmwiki.providers.openai_embedder import OpenAIEmbedder
from llmwiki.providers.rerank_services import ServiceReranker, open_service
from llmwiki.providers.retries import RetryPolicy

ATTEMPTS_FOR_A_READER = 2
"""A question is not worth the day's budget: one attempt more, and it goes on without."""


def embedding_service(
    settings: Settings, meter: CallMeter, clock: Clock, patience: float | None
) -> Embedder:
    """Open the embeddings of the service that the settings name."""
    chosen = settings.embedder
    return OpenAIEmbedder(
        open_client(
            base_url=chosen.base_url,
            api_key=_reveal(chosen.api_key),
            request_timeout=patience or settings.generator.request_timeout,
        ),
        chosen.model,
        _policy(settings, meter, clock, "embed", patience),
        dimension=chosen.dimension,
        batch_size=chosen.batch_size,
    )


def chat_service(
    settings: Settings, meter: CallMeter, clock: Clock, patience: float | None
) -> ChatModel:
    """Open the model that the settings name. Raises ConfigurationError where they name none."""
    chosen = settings.generator
    if chosen.model is None:
        raise ConfigurationError(
            "generator.provider is openai, so generator.model must name the model"
        )
    return OpenAIChat(
        open_client(
            base_url=chosen.base_url,
            api_key=_reveal(chosen.api_key),
            request_timeout=patience or chosen.request_timeout,
        ),
        chosen.model,
        _policy(settings, meter, clock, "chat", patience),
    )


def rerank_service(
    settings: Settings, service: RerankService, meter: CallMeter, clock: Clock
) -> Reranker:
    """Open the reranking service. Raises ConfigurationError where no model is named."""
    chosen = settings.rerank
    if chosen.model is None:
        raise ConfigurationError(
            f"rerank.provider is {service}, so rerank.model must name the model"
        )
    return ServiceReranker(
        service,
        open_service(service, base_url=chosen.base_url, api_key=_reveal(chosen.api_key)),
        chosen.model,
        RetryPolicy(meter=meter, clock=clock, budget="rerank", max_attempts=ATTEMPTS_FOR_A_READER),
    )


def _policy(
    settings: Settings, meter: CallMeter, clock: Clock, budget: str, patience: float | None
) -> RetryPolicy:
    attempts = settings.generator.max_attempts
    return RetryPolicy(
        meter=meter,
        clock=clock,
        budget=budget,
        max_attempts=attempts if patience is None else min(attempts, ATTEMPTS_FOR_A_READER),
        patience=patience,
    )


def _reveal(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()
