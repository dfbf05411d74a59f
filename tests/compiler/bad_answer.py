"""One bad answer as data, and the good one that it is made from."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llmwiki.domain import TopicSources
from tests.compiler.samples import chunk, topic_sources

Outcome = Literal["refused", "dropped", "repaired"]
Json = dict[str, Any]

READ = "read"
"""Stands for a code where only the form is wrong."""

RELAY = topic_sources(
    1,
    "Relay",
    chunk(
        11,
        "The relay listens on port 7070 and forwards each message to the valve. "
        "It keeps its state in memory and forgets it on restart.",
    ),
    chunk(
        12,
        "Start the relay with `relay serve --port 7070`:\n\n"
        "```console\nrelay serve --port 7070\nrelay status\n```",
    ),
    chunk(
        13,
        "| Option | Default |\n|---|---|\n| `--port` | 7070 |\n| `--workers` | 4 |",
        breadcrumb=("Relay", "Options"),
    ),
    chunk(
        14,
        "The relay refuses messages larger than 256 KB. "
        "See https://relay.example/limits for the reasons.",
        breadcrumb=("Relay", "Limits"),
    ),
)
VALVE = topic_sources(
    2,
    "Valve",
    chunk(21, "A valve opens slowly, so that the pressure behind it falls evenly.", path="v.md"),
    chunk(22, "A closed valve holds every message until it opens again.", path="v.md"),
)
CHINESE = topic_sources(
    1,
    "中继",
    chunk(31, "中继在端口7070上监听并把每条消息转发给阀门。重启之后内存中的状态会丢失。"),
    chunk(32, "中继拒绝大于256千字节的消息原因写在限制一章里。"),
)
EMPTY = topic_sources(1, "Relay")
PACK = (RELAY, VALVE)


def said(text: object, *sources: object, kind: object = "prose") -> Json:
    return {"text": text, "kind": kind, "sources": list(sources)}


CODE = "```console\nrelay serve --port 7070\nrelay status\n```"
TABLE = "| Option | Default |\n|---|---|\n| `--port` | 7070 |\n| `--workers` | 4 |"
GOOD_STATEMENTS: tuple[Json, ...] = (
    said("The relay listens on port 7070 and passes each message on to the valve.", "c1"),
    said("Its state is kept in memory and is forgotten on restart.", "c1"),
    said("`relay serve --port 7070` starts it.", "c2"),
    said(CODE, "c2", kind="code"),
    said(TABLE, "c3", kind="table"),
    said("Messages larger than 256 KB are refused.", "c4"),
)
GOOD_PAGE: Json = {
    "topic": "t1",
    "title": "Relay",
    "tldr": {"text": "The relay forwards messages to the valve.", "sources": ["c1"]},
    "tags": ["relay", "messages"],
    "sections": [{"heading": "Relay", "statements": list(GOOD_STATEMENTS)}],
}
VALVE_PAGE: Json = {
    "topic": "t2",
    "title": "Valve",
    "tldr": {"text": "A valve opens slowly.", "sources": ["c5"]},
    "tags": ["valve"],
    "sections": [
        {
            "heading": "",
            "statements": [said("A closed valve holds every message until it opens.", "c6")],
        }
    ],
}


def answer(*pages: object) -> str:
    return json.dumps({"pages": [*pages, VALVE_PAGE]}, ensure_ascii=False)


def page(**changes: object) -> str:
    return answer({**GOOD_PAGE, **changes})


def sections(*statements: object, heading: object = "Relay") -> list[Json]:
    return [{"heading": heading, "statements": list(statements)}]


def also(text: object, *sources: object, kind: object = "prose") -> str:
    """Answer with the good page and one statement more."""
    return page(sections=sections(*GOOD_STATEMENTS, said(text, *sources, kind=kind)))


def only(*statements: object) -> str:
    return page(sections=sections(*statements))


GOOD = page()


@dataclass(frozen=True, slots=True, kw_only=True)
class BadAnswer:
    """An answer to the pack, and what becomes of the page of its first topic."""

    name: str
    answer: str
    outcome: Outcome
    code: str
    pack: Sequence[TopicSources] = PACK
    previous_length: int = 0


def refused(name: str, answer: str, code: str, **more: Any) -> BadAnswer:  # noqa: ANN401
    return BadAnswer(name=name, answer=answer, outcome="refused", code=code, **more)


def dropped(name: str, answer: str, code: str, **more: Any) -> BadAnswer:  # noqa: ANN401
    return BadAnswer(name=name, answer=answer, outcome="dropped", code=code, **more)


def repaired(name: str, answer: str, code: str = READ) -> BadAnswer:
    return BadAnswer(name=name, answer=answer, outcome="repaired", code=code)
