"""`llmwiki budget`: what of the day's calls is used, free and kept for the night."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from jobs import exit_codes
from jobs.entry import JsonOption
from llmwiki.bootstrap import App
from llmwiki.cli.output import moment, print_json, print_line, print_table, run
from llmwiki.store.ledger_report import BudgetFigures, LedgerCall, budget_figures, last_calls

CallsOption = Annotated[
    int, typer.Option("--calls", min=0, help="How many of the last calls to list.")
]


def command(*, calls: CallsOption = 10, as_json: JsonOption = False) -> None:
    """Show every budget of the day, when it resets, and the last calls."""

    def work(app: App) -> int:
        # Twice the time of one HTTP attempt: after that no answer is going to come.
        patience = 2 * timedelta(seconds=app.settings.generator.request_timeout)
        with app.engine.connect() as connection:
            budgets = budget_figures(connection, app.limits, patience=patience)
            listed = last_calls(connection, calls, patience=patience)
        zone = app.limits.time_zone
        if as_json:
            print_json(
                time_zone=zone,
                budgets=[_budget_facts(figures, zone) for figures in budgets],
                calls=[asdict(call) for call in listed],
            )
        else:
            _print(budgets, listed, zone)
        return exit_codes.DONE

    run(work)


def _budget_facts(figures: BudgetFigures, zone: str) -> dict[str, object]:
    return {**asdict(figures), "resets_at_local": figures.resets_at.astimezone(ZoneInfo(zone))}


def _print(budgets: Sequence[BudgetFigures], calls: Sequence[LedgerCall], zone: str) -> None:
    print_table(
        ("budget", "cap", "used", "free", "for the night", "in flight", "lost"),
        [
            (
                figures.name,
                str(figures.cap),
                str(figures.used),
                str(figures.free),
                "" if figures.reserved_for_night is None else str(figures.reserved_for_night),
                str(figures.in_flight),
                str(figures.lost),
            )
            for figures in budgets
        ],
    )
    resets_at = budgets[0].resets_at
    local = resets_at.astimezone(ZoneInfo(zone))
    print_line(
        f"the day is {budgets[0].day} in {zone}; it ends {local:%Y-%m-%d %H:%M} there, "
        f"{moment(resets_at)}"
    )
    if calls:
        print_line()
        print_table(
            ("call", "when", "budget", "purpose", "subject", "outcome", "status", "tokens"),
            [_call_row(call) for call in calls],
        )


def _call_row(call: LedgerCall) -> tuple[str, ...]:
    return (
        str(call.id),
        moment(call.reserved_at),
        call.budget,
        call.purpose,
        call.subject,
        call.outcome or call.state,
        "" if call.http_status is None else str(call.http_status),
        f"{call.input_tokens} in, {call.output_tokens} out",
    )
