"""A model that answers deterministically: every chunk, shortened to its first lines, cited.

For ChatServer, in this process or as ``chat_server.py --answerer model.py:write_pages``.
"""

import json
import re
from typing import Any

_TOPIC = re.compile(r"^=== TOPIC (t\d+) (\w+)\nTitle: (.*)$", re.MULTILINE)
_CHUNK = re.compile(
    r"^--- CHUNK (c\d+) (\w+)\nFrom: .*\n\n(.*?)\n--- END \1 \2$", re.MULTILINE | re.DOTALL
)


def write_pages(request: dict[str, Any]) -> str:
    """Return the answer to a compile request as JSON text."""
    prompt = request["messages"][-1]["content"]
    parts = _TOPIC.split(prompt)[1:]
    topics = zip(parts[0::4], parts[2::4], parts[3::4], strict=True)
    pages = [_page(label, json.loads(title), body) for label, title, body in topics]
    return json.dumps({"pages": pages})


def _page(label: str, title: str, body: str) -> dict[str, Any]:
    statements = [_statement(text.strip(), chunk) for chunk, _, text in _CHUNK.findall(body)]
    first = next((s for s in statements if s["kind"] == "prose"), statements[0])
    return {
        "topic": label,
        "title": title,
        "tldr": {"text": first["text"][:300], "sources": first["sources"]},
        "tags": ["documentation", "model"],
        "sections": [{"heading": "Summary", "statements": statements}],
    }


def _statement(text: str, chunk: str) -> dict[str, Any]:
    block = text.split("\n\n", maxsplit=1)[0]
    if block.startswith("```"):
        return {"text": text, "kind": "code", "sources": [chunk]}
    if block.startswith("|"):
        return {"text": block, "kind": "table", "sources": [chunk]}
    return {"text": " ".join(block.split()), "kind": "prose", "sources": [chunk]}
