"""Opens the collaborators that the settings name."""

from pydantic import SecretStr

from llmwiki.compiler.extractive import ExtractiveGenerator
from llmwiki.compiler.model_generator import ModelGenerator
from llmwiki.compiler.packs import PackLimits
from llmwiki.config import Settings
from llmwiki.errors import ConfigurationError
from llmwiki.ports import CallMeter, Clock, Embedder, Generator, Reranker
from llmwiki.providers.cross_encoder import CrossEncoder
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.providers.minilm import open_minilm
from llmwiki.providers.onnx_embedder import OnnxEmbedder
from llmwiki.providers.openai_chat import ChatModel
from llmwiki.providers.openai_client import open_client
from llmwiki.providers.openai_embedder import OpenAIEmbedder
from llmwiki.providers.rerank_services import ServiceReranker, open_service
from llmwiki.providers.retries import RetryPolicy


def open_embedder(
    settings: Settings, meter: CallMeter, clock: Clock, *, patience: float | None = None
) -> Embedder:
    """Open the embedder that the settings name; see ``open_chat`` for ``patience``."""
    chosen = settings.embedder
    match chosen.provider:
        case "minilm":
            return open_minilm()
        case "hashing":
            return HashingEmbedder()
        case "onnx":
            if chosen.path is None:
                raise ConfigurationError("embedder.provider is onnx, so embedder.path must be set")
            return OnnxEmbedder(
                chosen.path / "model.onnx",
                chosen.path / "tokenizer.json",
                name=chosen.path.resolve().name,
            )
        case "openai":
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


def open_generator(settings: Settings, meter: CallMeter, clock: Clock) -> Generator:
    """Open the generator that the settings name."""
    chosen = settings.generator
    match chosen.provider:
        case "extractive":
            return ExtractiveGenerator()
        case "openai":
            chat = open_chat(settings, meter, clock)
            return ModelGenerator(chat=chat, model=chat.name, limits=pack_limits(settings))


def open_chat(
    settings: Settings, meter: CallMeter, clock: Clock, *, patience: float | None = None
) -> ChatModel:
    """Open the generator's model for conversations.

    ``patience`` is how many seconds someone waits: it limits each attempt, and no attempt
    begins after it. A night has none.
    """
    chosen = settings.generator
    if chosen.model is None:
        raise ConfigurationError(
            "generator.provider is openai, so generator.model must name the model"
        )
    return ChatModel(
        open_client(
            base_url=chosen.base_url,
            api_key=_reveal(chosen.api_key),
            request_timeout=patience or chosen.request_timeout,
        ),
        chosen.model,
        _policy(settings, meter, clock, "chat", patience),
    )


def open_reranker(settings: Settings, meter: CallMeter, clock: Clock) -> Reranker | None:
    """Open the reranker that the settings name; None where nothing beside the fusion orders."""
    chosen = settings.rerank
    if chosen.provider == "fusion":
        return None
    if chosen.provider == "cross-encoder":
        if chosen.path is None:
            raise ConfigurationError(
                "rerank.provider is cross-encoder, so rerank.path must be set to a folder with "
                "model.onnx and tokenizer.json"
            )
        return CrossEncoder(chosen.path, clock, max_tokens=chosen.max_tokens)
    if chosen.model is None:
        raise ConfigurationError(
            f"rerank.provider is {chosen.provider}, so rerank.model must name the model"
        )
    api_key = _reveal(chosen.api_key)
    return ServiceReranker(
        chosen.provider,
        open_service(chosen.provider, base_url=chosen.base_url, api_key=api_key),
        chosen.model,
        RetryPolicy(meter=meter, clock=clock, budget="rerank", max_attempts=ATTEMPTS_FOR_A_READER),
    )


def pack_limits(settings: Settings) -> PackLimits:
    """Return what one request may hold."""
    generator = settings.generator
    return PackLimits(
        max_pages=generator.pages_per_call,
        max_input_tokens=generator.max_input_tokens,
        max_output_tokens=generator.max_output_tokens,
    )


ATTEMPTS_FOR_A_READER = 2
"""A question is not worth the day's budget: one attempt more, and it goes on without."""


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
