"""Writes a report into a folder: for people, for machines, the transcripts, and the plots."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from llmwiki.errors import UsageError
from llmwiki.evaluation.evaluation import Evaluation
from llmwiki.evaluation.plots import draw
from llmwiki.evaluation.report_json import report_facts, transcripts
from llmwiki.evaluation.report_markdown import report_markdown


def prepare_folder(folder: Path) -> None:
    """Make the folder before hours are spent on what goes into it.

    Raises UsageError when it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"--report {folder}: {error.strerror}; name a folder to write to"
        ) from error


def write_report(folder: Path, evaluation: Evaluation) -> tuple[Path, ...]:
    """Write report.md, report.json, transcripts.jsonl and the plots; return their paths.

    Raises UsageError when the folder cannot be written to.
    """
    plots = dict(draw(evaluation))
    shown = "".join(f"\n![{name}]({name})\n" for name in plots)
    texts = {
        "report.md": report_markdown(evaluation) + shown,
        "report.json": _as_json(report_facts(evaluation)) + "\n",
        "transcripts.jsonl": _json_lines(transcripts(evaluation.runs)),
        **plots,
    }
    try:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written to: {error.strerror}") from error
    return tuple(folder / name for name in texts)


def _json_lines(entries: Iterable[dict[str, Any]]) -> str:
    return "".join(_as_json(entry) + "\n" for entry in entries)


def _as_json(facts: dict[str, Any]) -> str:
    return json.dumps(facts, ensure_ascii=False, default=str)
