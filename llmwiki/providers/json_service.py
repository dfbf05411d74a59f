"""Sends JSON to one service, each request once and within its time."""

import time

import httpx2

from llmwiki.providers.certificates import trusted_certificates
from llmwiki.providers.http_answer import HttpAnswer
from llmwiki.providers.secrets import without_secret

LARGEST_ANSWER = 4_000_000
"""Bytes. Fifty scores are two thousand; who sends more sends something else."""


class JsonService:
    """A service behind an address, with a key if it wants one.

    Redirects are not followed: each would be a request that nobody counted. The key is blanked
    in what comes back, for services that quote it in their complaints.
    """

    def __init__(self, base_url: str, api_key: str | None) -> None:
        # Compression is declined, so that a small answer cannot unpack to a large one.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if api_key:
            headers["Authorization"] = f"Bearer {api_key}"
        self._key = api_key
        self._client = httpx2.Client(
            base_url=base_url.rstrip("/") + "/",
            headers=headers,
            follow_redirects=False,
            verify=trusted_certificates(),
        )

    def post(self, path: str, request: object, *, timeout: float) -> HttpAnswer:
        """Send a request and read the answer, whatever its status.

        Raises httpx2.HTTPError, as a time-out also when the body is still arriving after
        ``timeout`` seconds: the time-out of a read starts anew with each byte.
        """
        ends_at = time.monotonic() + timeout
        with self._client.stream("POST", path, json=request, timeout=timeout) as response:
            content = bytearray()
            for part in response.iter_raw():
                content += part
                if len(content) > LARGEST_ANSWER:
                    content = bytearray(b"an answer of more than %d bytes" % LARGEST_ANSWER)
                    break
                if time.monotonic() > ends_at:
                    message = "the answer took too long"
                    raise httpx2.ReadTimeout(message, request=response.request)
        return HttpAnswer(
            status=response.status_code,
            headers={
                name.lower(): without_secret(value, self._key)
                for name, value in response.headers.items()
            },
            text=without_secret(content.decode(errors="replace"), self._key),
        )
