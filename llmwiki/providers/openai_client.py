"""The openai client as this project uses it: no retries of its own, a limit on every attempt."""

import time
from collections.abc import Iterator

import httpx2
import openai

from llmwiki.errors import ConfigurationError
from llmwiki.providers.certificates import trusted_certificates
from llmwiki.providers.service_address import require_sendable

_DEFAULT_BASE_URL = "https://api.openai.com/v1"
_CONNECT_TIMEOUT = 10.0
_STARTED_AT = "llmwiki_started_at"


def open_client(
    *, base_url: str | None, api_key: str | None, request_timeout: float
) -> openai.OpenAI:
    """Build the client for one service.

    An attempt is given up when nothing arrives for ``request_timeout`` seconds, and also when
    its body is still arriving after that time. Close the client when it is no longer needed.
    Raises ConfigurationError when the key is missing and the service is OpenAI's own, or when
    the key or the address cannot be sent.
    """
    if not api_key and not base_url:
        raise ConfigurationError(
            "no API key: set api_key in llmwiki.toml, or LLMWIKI_GENERATOR__API_KEY or "
            "LLMWIKI_EMBEDDER__API_KEY, or set base_url to a service that needs none"
        )
    require_sendable(base_url, api_key)
    # Redirects are not followed: each would be a request that nobody counted. The client's own
    # reading of OPENAI_BASE_URL is cut off by always giving it an address.
    timeout = httpx2.Timeout(request_timeout, connect=min(request_timeout, _CONNECT_TIMEOUT))
    http_client = httpx2.Client(
        verify=trusted_certificates(),
        timeout=timeout,
        follow_redirects=False,
        event_hooks={
            "request": [_note_start],
            "response": [lambda response: _limit_body(response, request_timeout)],
        },
    )
    return openai.OpenAI(
        api_key=api_key or "unused",
        base_url=base_url or _DEFAULT_BASE_URL,
        max_retries=0,
        http_client=http_client,
        timeout=timeout,
    )


def _note_start(request: httpx2.Request) -> None:
    request.extensions[_STARTED_AT] = time.monotonic()


def _limit_body(response: httpx2.Response, seconds: float) -> None:
    started_at: float = response.request.extensions[_STARTED_AT]
    stream = response.stream
    if isinstance(stream, httpx2.SyncByteStream):
        response.stream = _LimitedStream(stream, response.request, started_at + seconds)


class _LimitedStream(httpx2.SyncByteStream):
    """Passes a body on until its time is over.

    A read time-out does not see an answer that trickles: it starts anew with each byte.
    """

    def __init__(
        self, stream: httpx2.SyncByteStream, request: httpx2.Request, ends_at: float
    ) -> None:
        self._stream = stream
        self._request = request
        self._ends_at = ends_at

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            if time.monotonic() > self._ends_at:
                raise httpx2.ReadTimeout("the answer took too long", request=self._request)
            yield part

    def close(self) -> None:
        self._stream.close()
