"""A local model service for tests: scripted answers over real HTTP, counted and recorded.

It speaks POST …/chat/completions and POST …/embeddings. ``GET /counts`` tells other processes
how many requests each path received. Run as a script it serves until it is killed:

    python tests/support/chat_server.py [--port N] [--answerer FILE.py:FUNCTION]

and prints its base URL as the first line. The function takes the request's JSON and returns an
Answer, or a text for an ordinary completion.
"""

import argparse
import hashlib
import json
import os
import runpy
import socket
import struct
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from llmwiki.closing import ClosedAfterUse

Json = dict[str, Any]
_LONGEST_TRICKLE = 600.0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One HTTP answer. A body that is neither text nor bytes is sent as JSON."""

    status: int = 200
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before the first byte."""
    trickle: float | None = None
    """Seconds between single bytes that follow the body without end."""
    reset: bool = False
    """Drop the connection instead of answering."""

    def encoded(self) -> tuple[str, bytes]:
        """Return the content type and the bytes of the body."""
        if isinstance(self.body, bytes):
            return "application/json", self.body
        if isinstance(self.body, str):
            return "text/html; charset=utf-8", self.body.encode()
        return "application/json", json.dumps(self.body).encode()


Answerer = Callable[[Json], "Answer | str"]


def completion(
    text: str | None,
    *,
    finish_reason: str = "stop",
    usage: tuple[int, int] = (10, 5),
    **message: object,
) -> Answer:
    """Return an ordinary chat completion."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "test-model-2026",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
        "usage": {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "total_tokens": sum(usage),
        },
    }
    return Answer(body=body)


def embeddings(vectors: list[list[float]], *, order: list[int] | None = None) -> Answer:
    """Return vectors as an embeddings answer, listed in another order if one is given."""
    rows = [
        {"object": "embedding", "index": index, "embedding": vectors[index]}
        for index in (order or range(len(vectors)))
    ]
    usage = {"prompt_tokens": 7 * len(vectors), "total_tokens": 7 * len(vectors)}
    return Answer(body={"object": "list", "model": "test-embed", "data": rows, "usage": usage})


def text_vector(text: str, dimension: int = 8) -> list[float]:
    """Return the vector that the server gives to a text when nothing else is scripted."""
    digest = hashlib.shake_256(text.encode()).digest(dimension)
    return [byte / 128.0 - 1.0 for byte in digest]


def answer_by_default(request: Json) -> Answer:
    """Embed each input by its hash; complete every chat with ``ok``."""
    if "input" not in request:
        return completion("ok")
    texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
    return embeddings([text_vector(text, request.get("dimensions", 8)) for text in texts])


class ChatServer(ClosedAfterUse):
    """Serves in threads of this process from construction until ``close``.

    Queued answers are given first, one a request; then the answerer is asked.
    """

    def __init__(self, answerer: Answerer = answer_by_default, *, port: int = 0) -> None:
        self.answerer = answerer
        self.queue: deque[Answer | str] = deque()
        self.counts: Counter[str] = Counter()
        self.bodies: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def requests(self) -> int:
        """The number of POST requests so far."""
        return self.counts.total()

    def enqueue(self, *answers: Answer | str) -> None:
        """Answer the next requests with these, in order."""
        self.queue.extend(answers)

    def answer(self, path: str, headers: dict[str, str], request: Json) -> Answer:
        """Record one request and decide its answer."""
        with self._lock:
            self.counts[path] += 1
            self.bodies.append(request)
            self.headers.append(headers)
            queued = self.queue.popleft() if self.queue else None
        given = self.answerer(request) if queued is None else queued
        return completion(given) if isinstance(given, str) else given

    def close(self) -> None:
        """Stop serving; requests that are being delayed end at once."""
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], owner: ChatServer) -> None:
        self.owner = owner
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._send(Answer(body=dict(self.server.owner.counts)))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.owner.answer(self.path, headers, json.loads(raw))
        self.server.owner.stopping.wait(answer.delay)
        if answer.reset:
            self._reset()
        else:
            try:
                self._send(answer)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client had enough, which a test may want

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Keep quiet."""

    def _send(self, answer: Answer) -> None:
        content_type, body = answer.encoded()
        self.send_response(answer.status)
        for name, value in {"Content-Type": content_type, **answer.headers}.items():
            self.send_header(name, value)
        if answer.trickle is None:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if answer.trickle is not None:
            self._trickle(answer.trickle)

    def _trickle(self, pause: float) -> None:
        for _ in range(int(_LONGEST_TRICKLE / pause)):
            if self.server.owner.stopping.wait(pause):
                break
            self.wfile.write(b" ")

    def _reset(self) -> None:
        # Lingering for no time makes the kernel send a reset instead of an orderly end.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())
        self.close_connection = True


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--answerer", help="FILE.py:FUNCTION")
    arguments = parser.parse_args()
    answerer: Answerer = answer_by_default
    if arguments.answerer:
        # An answerer that imports `chat_server` must get this module, not a second copy.
        sys.path.insert(0, str(Path(__file__).parent))
        sys.modules["chat_server"] = sys.modules["__main__"]
        file, _, function = arguments.answerer.rpartition(":")
        answerer = runpy.run_path(file)[function]
    with ChatServer(answerer, port=arguments.port) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        server.stopping.wait()


if __name__ == "__main__":
    main()
