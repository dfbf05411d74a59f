"""A reranking service for tests, over real HTTP: it scores by shared words unless scripted.

It answers in the shape of Voyage where ``top_k`` is asked for, otherwise in that of Cohere.
"""

from collections.abc import Sequence

from tests.support.chat_server import Answer, ChatServer, Json


def shared_words(question: str, text: str) -> float:
    """Return the share of the question's words that the text holds."""
    asked = set(question.lower().split())
    return len(asked & set(text.lower().split())) / len(asked)


def ranking(rows: Sequence[tuple[object, object]], *, tokens: int = 30) -> Answer:
    """Return (index, score) rows in the shape of Cohere."""
    results = [{"index": index, "relevance_score": score} for index, score in rows]
    meta = {"api_version": {"version": "2"}, "tokens": {"input_tokens": tokens}}
    return Answer(body={"id": "1", "results": results, "meta": meta})


def voyage_ranking(rows: Sequence[tuple[object, object]], *, tokens: int = 30) -> Answer:
    """Return (index, score) rows in the shape of Voyage."""
    data = [{"index": index, "relevance_score": score} for index, score in rows]
    body = {"object": "list", "data": data, "model": "m", "usage": {"total_tokens": tokens}}
    return Answer(body=body)


def answer_by_words(request: Json) -> Answer:
    """Score every document, the best first."""
    scores = [shared_words(request["query"], text) for text in request["documents"]]
    rows = sorted(enumerate(scores), key=lambda row: -row[1])
    if "top_k" in request:
        return voyage_ranking(rows[: request["top_k"]])
    return ranking(rows[: request["top_n"]])


class RerankServer(ChatServer):
    """Serves POST …/rerank in threads of this process until ``close``."""

    def __init__(self) -> None:
        super().__init__(answer_by_words)
