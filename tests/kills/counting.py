"""The one server that all drains ask: it counts, dawdles, errs, and kills on order."""

import os
import random
import signal
from collections import Counter
from typing import Any

from tests.support.chat_server import Answer, ChatServer, completion
from tests.support.model import write_pages

LONGEST_DELAY = 0.03
SHARE_OF_BAD_PAGES = 0.15
SHARE_OF_FAILURES = 0.05


class CountingServer(ChatServer):
    """Answers compile requests; a key of ``process-number`` asks to be killed at that request."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self.errs = True
        self.seen: Counter[str] = Counter()
        super().__init__(self.write)

    def write(self, request: dict[str, Any]) -> Answer:
        """Return the pages, late, and sometimes nothing or pages that the gate refuses."""
        delay = self.chance.uniform(0, LONGEST_DELAY)
        kind = self.chance.random() if self.errs else 1.0
        if kind < SHARE_OF_FAILURES:
            return Answer(status=503, body={"error": {"message": "overloaded"}}, delay=delay)
        text = write_pages(request)
        if kind < SHARE_OF_FAILURES + SHARE_OF_BAD_PAGES:
            text = text.replace('"sources": ["c', '"sources": ["x')
        return Answer(body=completion(text).body, delay=delay)

    def answer(self, path: str, headers: dict[str, str], request: dict[str, Any]) -> Answer:
        """Count the request before anything else happens with it."""
        given = super().answer(path, headers, request)
        key = headers.get("authorization", "").removeprefix("Bearer ")
        process, dash, occurrence = key.partition("-")
        self.seen[key] += 1
        if dash and self.seen[key] == int(occurrence):
            os.kill(int(process), signal.SIGKILL)
        return given
