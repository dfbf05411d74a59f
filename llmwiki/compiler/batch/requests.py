"""The lines of a batch's file, each of which asks for the pages of one pack."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from llmwiki.compiler.model_generator import fit_request
from llmwiki.compiler.packs import PackLimits
from llmwiki.compiler.prompt import ANSWER_SCHEMA, build_messages
from llmwiki.domain import TopicId, TopicSources
from llmwiki.providers.openai_batch import ENDPOINT
from llmwiki.store.batch_leases import SentPage
from llmwiki.store.queue import QueuedPage
from llmwiki.store.sent_requests import SentRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLimits:
    """What services take in one file."""

    max_requests: int = 50_000
    max_bytes: int = 200_000_000


def plan_request(
    pack: Sequence[TopicSources],
    pages: Mapping[TopicId, QueuedPage],
    model: str,
    limits: PackLimits,
) -> SentRequest:
    """Return the request for a pack, for which no unit is taken yet."""
    fitted = fit_request(pack, limits)
    sent = tuple(
        SentPage(
            page=pages[sources.topic.id],
            sources=sources,
            shown=tuple(chunk.id for chunk in each.chunks),
        )
        for sources, each in zip(pack, fitted, strict=True)
    )
    # A page's id and its lease are one claim, and a claim is in one request only.
    custom_id = f"page-{sent[0].page.page_id}-lease-{sent[0].page.lease_token}"
    body = {
        "model": model,
        "messages": build_messages(fitted),
        "max_completion_tokens": limits.max_output_tokens,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": ANSWER_SCHEMA},
        },
    }
    line = json.dumps({"custom_id": custom_id, "method": "POST", "url": ENDPOINT, "body": body})
    return SentRequest(custom_id=custom_id, call_id=None, line=line, pages=sent)


def split_files(
    requests: Iterable[SentRequest], limits: FileLimits
) -> Iterator[tuple[SentRequest, ...]]:
    """Divide the requests, in their order, into files that the service takes."""
    current: list[SentRequest] = []
    size = 0
    for request in requests:
        more = len(request.line.encode()) + 1
        if current and (len(current) >= limits.max_requests or size + more > limits.max_bytes):
            yield tuple(current)
            current, size = [], 0
        current.append(request)
        size += more
    if current:
        yield tuple(current)


def file_name(token: str) -> str:
    """Return the name under which a batch's file is uploaded, and found again."""
    return f"llmwiki-{token}.jsonl"


def file_content(requests: Iterable[SentRequest]) -> bytes:
    """Return the file of these requests."""
    return "".join(f"{request.line}\n" for request in requests).encode()
