"""Plots of an evaluation as SVG: means with their confidence, and gains question by question."""

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

from llmwiki.evaluation.comparison import Scores
from llmwiki.evaluation.evaluation import Evaluation
from llmwiki.evaluation.extras import require
from llmwiki.evaluation.measures import summarise

_INCHES_PER_BAR = 0.45
_HEIGHT = 4.0
_GAIN, _LOSS = "#2a6f97", "#c1440e"


def draw(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    """Yield plots as (file name, SVG): one of means for each measure, one of gains for each pair.

    Raises ConfigurationError where the extra `evaluation` is not installed.
    """
    for measure in evaluation.measures:
        plot = _means(evaluation, measure)
        if plot is not None:
            yield f"means-{_safe(measure)}.svg", plot
    if evaluation.reference is None:
        return
    measure = evaluation.measures[0]
    for configuration in evaluation.configurations:
        if configuration.name == evaluation.reference:
            continue
        for dataset in evaluation.datasets:
            gains = _gains(
                evaluation.scores_of(evaluation.reference, dataset).values,
                evaluation.scores_of(configuration.name, dataset).values,
                measure,
            )
            if gains:
                title = f"{measure} on {dataset}: {configuration.name} less {evaluation.reference}"
                name = f"gains-{_safe(configuration.name)}-{_safe(dataset)}.svg"
                yield name, _draw_gains(title, gains)


def _means(evaluation: Evaluation, measure: str) -> str | None:
    summaries = {
        f"{scores.dataset}: {scores.configuration}": summary
        for scores in evaluation.scores
        if (summary := summarise(scores.values[measure])) is not None
    }
    if not summaries:
        return None
    means = [summary.mean for summary in summaries.values()]
    # Rounding may put the mean of equal values beside their interval.
    below = [max(0.0, summary.mean - summary.low) for summary in summaries.values()]
    above = [max(0.0, summary.high - summary.mean) for summary in summaries.values()]
    figure, axes = _figure(len(summaries))
    axes.bar(list(summaries), means, yerr=[below, above], capsize=3, color=_GAIN)
    axes.set_title(f"{measure}, means with 95 % bootstrap intervals")
    axes.set_ylim(0, 1)
    axes.tick_params(axis="x", rotation=90)
    return _svg(figure)


def _gains(reference: Scores, scores: Scores, measure: str) -> list[float]:
    """Return the differences that are not nothing, the greatest gain first."""
    pairs = ((value, reference[measure][query_id]) for query_id, value in scores[measure].items())
    differences = [
        value - before for value, before in pairs if value is not None and before is not None
    ]
    return sorted((each for each in differences if each), reverse=True)


def _draw_gains(title: str, gains: Sequence[float]) -> str:
    figure, axes = _figure(16)
    colours = [_GAIN if gain > 0 else _LOSS for gain in gains]
    axes.bar(range(len(gains)), gains, color=colours, width=1.0)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_title(title)
    axes.set_xlabel("questions on which the two differ")
    return _svg(figure)


def _figure(bars: int) -> tuple[Any, Any]:
    figure = require("matplotlib.figure").Figure(
        figsize=(max(6.0, bars * _INCHES_PER_BAR), _HEIGHT), layout="constrained"
    )
    return figure, figure.subplots()


def _svg(figure: Any) -> str:  # noqa: ANN401 - the library is optional
    """Return the figure without date and random ids, so that equal figures are equal files."""
    drawn = io.StringIO()
    with require("matplotlib").rc_context({"svg.hashsalt": "llmwiki", "svg.fonttype": "none"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def _safe(name: str) -> str:
    return re.sub(r"[^\w.@-]+", "-", name).strip("-").replace("@", "-at-")
