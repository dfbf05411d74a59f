"""The Batch API of a compatible service: a file of requests goes up, files of answers come back.

None of its HTTP requests is a chat call. The calls are the requests inside of the file, which
the caller has taken from the ledger before anything is sent.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

import openai
from openai.pagination import SyncCursorPage
from openai.types import Batch, FileObject

from llmwiki.errors import ConfigurationError, TransientProviderError
from llmwiki.ports import CallPurpose, Clock
from llmwiki.providers.retries import Exchange, RetryPolicy, call_with_retries

T = TypeVar("T")

ENDPOINT: Final = "/v1/chat/completions"
_TOKEN_KEY = "llmwiki_token"  # noqa: S105 - the name of a metadata key
_MOST_LIST_PAGES = 1000
"""Of a hundred entries each; ends the walk through a list that never says that it is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceBatch:
    """A batch as the service tells of it."""

    id: str
    status: str
    input_file_id: str | None
    output_file_id: str | None
    """Missing also on a completed batch, when no request succeeded."""
    error_file_id: str | None
    error: str
    """Why the file was refused as a whole; empty otherwise."""


class OpenAIBatches:
    """Files and batches of one account, each request repeated by the one policy there is."""

    def __init__(
        self, client: openai.OpenAI, *, address: str, clock: Clock, max_attempts: int
    ) -> None:
        self.address = address
        """Names the service: ids that it gave mean nothing to another."""
        self._client = client
        self._policy = RetryPolicy(
            secret=client.api_key,
            meter=_NoMeter(),
            clock=clock,
            budget="batch",
            max_attempts=max_attempts,
        )

    def upload(self, name: str, content: bytes) -> str:
        """Upload a file of requests, return its id. A file alone costs nothing."""
        return self._ask(
            lambda: self._client.files.create(
                file=(name, content, "application/jsonl"), purpose="batch"
            ),
            _file_id,
        )

    def create(self, file_id: str, token: str) -> ServiceBatch:
        """Start a batch over an uploaded file.

        A failure that leaves open whether the batch began is never answered with a second
        attempt, which could double every call: the batch is looked up, and where it does not
        show, TransientProviderError leaves it to a later run.
        """

        def send() -> object:
            try:
                return self._client.batches.create(
                    input_file_id=file_id,
                    endpoint=ENDPOINT,
                    completion_window="24h",
                    metadata={_TOKEN_KEY: token},
                )
            except (openai.APIConnectionError, openai.InternalServerError) as error:
                found = self.find_batch(token, file_id)
                if found is None:
                    raise TransientProviderError(
                        f"unclear whether the batch began: {error}"
                    ) from error
                return found

        return self._ask(send, _batch)

    def find_batch(self, token: str, input_file_id: str | None) -> ServiceBatch | None:
        """Return the batch that carries our token, or that runs over our file."""
        listed: list[Batch] = self._ask(
            lambda: _whole_list(self._client.batches.list(limit=100)), _entries
        )
        for each in listed:
            batch = _batch(each)
            if batch is None:
                continue
            metadata = getattr(each, "metadata", None) or {}
            ours = metadata.get(_TOKEN_KEY) == token
            if ours or (input_file_id is not None and batch.input_file_id == input_file_id):
                return batch
        return None

    def find_file(self, name: str) -> str | None:
        """Return the id of the uploaded file of that name."""
        listed: list[FileObject] = self._ask(
            lambda: _whole_list(self._client.files.list(purpose="batch")), _entries
        )
        ids = (_file_id(each) for each in listed if getattr(each, "filename", None) == name)
        return next(filter(None, ids), None)

    def retrieve(self, batch_id: str) -> ServiceBatch | None:
        """Return the batch as it stands; None when the service knows no such batch."""
        return self._ask_for(lambda: self._client.batches.retrieve(batch_id), _batch)

    def read(self, file_id: str) -> bytes | None:
        """Return the content of a file; None when the service has no such file."""
        return self._ask_for(lambda: self._client.files.content(file_id), _content)

    def _ask_for(self, send: Callable[[], object], read: Callable[[object], T | None]) -> T | None:
        try:
            return self._ask(send, read)
        except ConfigurationError as error:
            if isinstance(error.__cause__, openai.NotFoundError):
                return None
            raise

    def _ask(self, send: Callable[[], object], read: Callable[[object], T | None]) -> T:
        exchange = Exchange(send=send, read=read)
        return call_with_retries(exchange, policy=self._policy, purpose="compile").value


class _NoMeter:
    """Stands where the policy expects a ledger."""

    @contextmanager
    def attempt(
        self, budget: str, purpose: CallPurpose, *, subject: str = ""
    ) -> Iterator["_NoUnit"]:
        del budget, purpose, subject
        yield _NoUnit()


class _NoUnit:
    def settle(
        self,
        outcome: str,
        *,
        http_status: int | None = None,
        input_tokens: int = 0,
        output_tokens: int = 0,
    ) -> None:
        """Nothing was taken, so nothing is to be told."""


def _whole_list(page: SyncCursorPage[T]) -> object:
    """Return all entries from this page on, or what came in the place of a list."""
    entries: list[T] = []
    for _ in range(_MOST_LIST_PAGES):
        data = getattr(page, "data", None)
        if not isinstance(data, list):
            return page
        entries += data
        if not page.has_next_page():
            break
        page = page.get_next_page()
    return entries


def _entries(answer: object) -> list[T] | None:
    return answer if isinstance(answer, list) else None


def _file_id(answer: object) -> str | None:
    return _text(answer, "id") if isinstance(answer, FileObject) else None


def _content(answer: object) -> bytes | None:
    content = getattr(answer, "content", None)
    return content if isinstance(content, bytes) else None


def _batch(answer: object) -> ServiceBatch | None:
    """Read a batch; the client does not validate, so any field may be missing."""
    if isinstance(answer, ServiceBatch):
        return answer
    batch_id, status = _text(answer, "id"), _text(answer, "status")
    if not isinstance(answer, Batch) or batch_id is None or status is None:
        return None
    problems = getattr(getattr(answer, "errors", None), "data", None) or []
    messages = [_text(each, "message") or _text(each, "code") or "" for each in problems]
    return ServiceBatch(
        id=batch_id,
        status=status.lower(),
        input_file_id=_text(answer, "input_file_id"),
        output_file_id=_text(answer, "output_file_id"),
        error_file_id=_text(answer, "error_file_id"),
        error="; ".join(filter(None, messages)),
    )


def _text(answer: object, name: str) -> str | None:
    """Return a text field; services also send empty ones for what is missing."""
    value = getattr(answer, name, None)
    return value if isinstance(value, str) and value else None
