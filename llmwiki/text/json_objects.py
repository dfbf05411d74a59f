"""Finds the JSON objects in a text that may hold more than JSON."""

import json
from typing import Any

MOST_STARTS = 20
"""Opening braces that are tried; a text with more of them is no answer in JSON."""


def objects_in(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects of a text, the last first: a model may think aloud before it.

    An object within another is not listed by itself. Never raises, whatever the text is.
    """
    decoder = json.JSONDecoder()
    found = []
    start = text.find("{")
    for _ in range(MOST_STARTS):
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            found.append(value)
        start = text.find("{", end)
    return found[::-1]
