"""The boundaries between the steps of a batch, and how to stop a run at one of them."""

from collections.abc import Callable
from typing import Any, Literal, NoReturn

from llmwiki.compiler.batch.pages import BatchPages
from llmwiki.compiler.drain.finishing import PageFinisher
from llmwiki.providers.openai_batch import OpenAIBatches
from llmwiki.store import batches

Seam = tuple[Any, str, Literal["before", "after"]]

SUBMISSION: dict[str, Seam] = {
    "before the row": (batches, "create", "before"),
    "before the upload": (OpenAIBatches, "upload", "before"),
    "after the upload": (OpenAIBatches, "upload", "after"),
    "before the batch": (OpenAIBatches, "create", "before"),
    "after the batch": (OpenAIBatches, "create", "after"),
    "when all is sent": (batches, "note_submitted", "after"),
}
COLLECTION: dict[str, Seam] = {
    "before the files": (OpenAIBatches, "read", "before"),
    "before the first page": (PageFinisher, "finish", "before"),
    "after the first page": (PageFinisher, "finish", "after"),
    "before the first unit": (BatchPages, "settle", "before"),
    "after the first unit": (BatchPages, "settle", "after"),
    "before the end": (batches, "close", "before"),
}


def stopping(seam: Seam, stop: Callable[[], NoReturn]) -> tuple[Any, str, Callable[..., Any]]:
    """Return owner, name and replacement of the step, as ``setattr`` takes them."""
    owner, name, when = seam
    step = getattr(owner, name)

    def replacement(*arguments: object, **options: object) -> NoReturn:
        if when == "after":
            step(*arguments, **options)
        stop()

    return owner, name, replacement
