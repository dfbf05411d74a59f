"""A local service with files and batches, whose batches finish when the test says so.

Real HTTP, as a client of the Batch API sees it. Every route counts its requests, and each can be
made to fail before or after it did its work.
"""

import json
import re
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from llmwiki.closing import ClosedAfterUse
from tests.support.chat_server import Answer, completion

Json = dict[str, Any]
Answerer = Callable[[Json], "Answer | str"]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What one request gets instead of its answer; with ``after`` the work is done all the same."""

    status: int = 500
    body: Any = field(default_factory=lambda: {"error": {"message": "down"}})
    after: bool = False


class BatchServer(ClosedAfterUse):
    """Serves in threads of this process from construction until ``close``."""

    def __init__(self, answerer: Answerer) -> None:
        self.answerer = answerer
        self.counts: Counter[str] = Counter()
        self.faults: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, Json] = {}
        self.keeps_metadata = True
        self.page_size = 2
        """Entries on one page of a list; small, so that tests walk through several."""
        self._lock = threading.RLock()
        self._server = _Server(("127.0.0.1", 0), self)
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
        """The number of chat requests in all batches that were ever started."""
        return sum(len(self.lines(batch)) for batch in self.batches)

    def lines(self, batch: str) -> list[Json]:
        """Return the requests of a batch."""
        _, content = self.files[self.batches[batch]["input_file_id"]]
        return [json.loads(line) for line in content.decode().splitlines()]

    def finish(
        self,
        status: str = "completed",
        *,
        answered: int | None = None,
        errors: Mapping[int, Json] | None = None,
        extra_lines: Sequence[Json] = (),
        without_files: bool = False,
    ) -> None:
        """End every open batch: its first requests are answered, the last one first.

        ``errors`` holds lines of the error file by the number of their request. Requests that
        are neither answered nor in error are missing, or expired with the batch.
        """
        with self._lock:
            for batch_id, batch in self.batches.items():
                if batch["status"] != "in_progress":
                    continue
                wrong = dict(errors or {})
                good: list[Json] = []
                for number, line in enumerate(self.lines(batch_id)):
                    if number in wrong:
                        continue
                    if answered is None or number < answered:
                        good.append(self._answer(line))
                    elif status == "expired":
                        wrong[number] = {"error": {"code": "batch_expired", "message": "late"}}
                bad = [
                    {"custom_id": self.lines(batch_id)[number]["custom_id"], **line}
                    for number, line in wrong.items()
                ]
                batch["status"] = status
                if not without_files:
                    batch["output_file_id"] = self._add_results([*reversed(good), *extra_lines])
                    batch["error_file_id"] = self._add_results(bad)

    def refuse(self, message: str) -> None:
        """Let every open batch fail its validation."""
        for batch in self.batches.values():
            batch["status"] = "failed"
            batch["errors"] = {"object": "list", "data": [{"code": "bad", "message": message}]}

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, line: Json) -> Json:
        given = self.answerer(line["body"])
        answer = completion(given) if isinstance(given, str) else given
        return {
            "id": "batch_req_1",
            "custom_id": line["custom_id"],
            "response": {"status_code": answer.status, "request_id": "r", "body": answer.body},
            "error": None,
        }

    def _add_results(self, lines: Sequence[Json]) -> str:
        """Return the id of a file of these lines; an empty text, as services do, for no lines."""
        if not lines:
            return ""
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        return self._add_file("results.jsonl", text.encode())

    def _add_file(self, name: str, content: bytes) -> str:
        file_id = f"file-{len(self.files) + 1}"
        self.files[file_id] = (name, content)
        return file_id

    def handle(self, method: str, path: str, query: Mapping[str, str], body: bytes) -> Answer:
        """Answer one request."""
        with self._lock:
            route = f"{method} {re.sub(r'/(file|batch)-[0-9]+', '/*', path)}"
            self.counts[route] += 1
            fault = self.faults[route].popleft() if self.faults[route] else None
            if fault is not None and not fault.after:
                return Answer(status=fault.status, body=fault.body)
            answer = self._work(route, path, query, body)
            return answer if fault is None else Answer(status=fault.status, body=fault.body)

    def _work(self, route: str, path: str, query: Mapping[str, str], body: bytes) -> Answer:
        last = path.rstrip("/").split("/")
        given: Json | bytes
        match route:
            case "POST /v1/files":
                given = self._file(self._add_file(*_uploaded(body)))
            case "GET /v1/files":
                given = self._page([self._file(file_id) for file_id in self.files], query)
            case "GET /v1/files/*/content" if last[-2] in self.files:
                given = self.files[last[-2]][1]
            case "POST /v1/batches":
                given = self._start(json.loads(body))
            case "GET /v1/batches":
                given = self._page(list(self.batches.values()), query)
            case "GET /v1/batches/*" if last[-1] in self.batches:
                given = self.batches[last[-1]]
            case _:
                return Answer(status=404, body={"error": {"message": f"no {path}"}})
        return Answer(body=given)

    def _start(self, wanted: Json) -> Json:
        batch_id = f"batch-{len(self.batches) + 1}"
        self.batches[batch_id] = {
            "id": batch_id,
            "object": "batch",
            "created_at": 1,
            "status": "in_progress",
            "endpoint": wanted["endpoint"],
            "completion_window": wanted["completion_window"],
            "input_file_id": wanted["input_file_id"],
            "metadata": wanted["metadata"] if self.keeps_metadata else None,
        }
        return self.batches[batch_id]

    def _file(self, file_id: str) -> Json:
        name, content = self.files[file_id]
        return {
            "id": file_id,
            "object": "file",
            "bytes": len(content),
            "created_at": 1,
            "filename": name,
            "purpose": "batch",
            "status": "processed",
        }

    def _page(self, entries: Sequence[Json], query: Mapping[str, str]) -> Json:
        ids = [entry["id"] for entry in entries]
        start = ids.index(query["after"]) + 1 if "after" in query else 0
        page = entries[start : start + self.page_size]
        more = start + self.page_size < len(entries)
        return {"object": "list", "data": page, "has_more": more}


def _uploaded(body: bytes) -> tuple[str, bytes]:
    """Return name and content of the file in a form."""
    boundary = body.split(b"\r\n", 1)[0]
    for part in body.split(boundary):
        head, _, content = part.partition(b"\r\n\r\n")
        if name := re.search(rb'filename="([^"]*)"', head):
            return name[1].decode(), content.removesuffix(b"\r\n")
    raise AssertionError("the form holds no file")


class _Server(ThreadingHTTPServer):
    def __init__(self, address: tuple[str, int], owner: BatchServer) -> None:
        self.owner = owner
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._respond("GET", b"")

    def do_POST(self) -> None:
        self._respond("POST", self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Keep quiet."""

    def _respond(self, method: str, body: bytes) -> None:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        answer = self.server.owner.handle(method, url.path, query, body)
        content_type, encoded = answer.encoded()
        self.send_response(answer.status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)
