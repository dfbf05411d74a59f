"""Opens the collaborators that the settings name."""

from llmwiki.compiler.drafts.extractive import ExtractiveGenerator
from llmwiki.compiler.model_generator import ModelGenerator
from llmwiki.compiler.packs import PackLimits
from llmwiki.config import Settings
from llmwiki.errors import ConfigurationError
from llmwiki.ports import CallMeter, ChatModel, Clock, Embedder, Generator, Reranker
from llmwiki.providers.cross_encoder import CrossEncoder
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.providers.minilm import open_minilm
from llmwiki.providers.onnx_embedder import OnnxEmbedder


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
            from llmwiki.bootstrap import services  # noqa: PLC0415 - slow to import; see there

            return services.embedding_service(settings, meter, clock, patience)


def open_generator(settings: Settings, meter: CallMeter, clock: Clock) -> Generator:
    """Open the generator that the settings name."""
    chosen = settings.generator
    match chosen.provider:
        case "extractive":
            return ExtractiveGenerator()
        case "openai":
            return ModelGenerator(
                chat=open_chat(settings, meter, clock), limits=pack_limits(settings)
            )


def open_chat(
    settings: Settings, meter: CallMeter, clock: Clock, *, patience: float | None = None
) -> ChatModel:
    """Open the generator's model for conversations.

    ``patience`` is how many seconds someone waits: it limits each attempt, and no attempt
    begins after it. A night has none.
    """
    from llmwiki.bootstrap import services  # noqa: PLC0415 - slow to import; see there

    return services.chat_service(settings, meter, clock, patience)


def open_reranker(settings: Settings, meter: CallMeter, clock: Clock) -> Reranker | None:
    """Open the reranker that the settings name; None where nothing beside the fusion orders."""
    chosen = settings.rerank
    match chosen.provider:
        case "fusion":
            return None
        case "cross-encoder":
            if chosen.path is None:
                raise ConfigurationError(
                    "rerank.provider is cross-encoder, so rerank.path must be set to a folder with "
                    "model.onnx and tokenizer.json"
                )
            return CrossEncoder(chosen.path, clock, max_tokens=chosen.max_tokens)
        case service:
            from llmwiki.bootstrap import services  # noqa: PLC0415 - slow to import; see there

            return services.rerank_service(settings, service, meter, clock)


def pack_limits(settings: Settings) -> PackLimits:
    """Return what one request may hold."""
    generator = settings.generator
    return PackLimits(
        max_pages=generator.pages_per_call,
        max_input_tokens=generator.max_input_tokens,
        max_output_tokens=generator.max_output_tokens,
    )
