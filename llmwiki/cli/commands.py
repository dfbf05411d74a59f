"""The commands of `llmwiki` by name, each imported when it is asked for.

All of them together take as long to import as a search takes to run.
"""

from importlib import import_module
from typing import Any

import typer
import typer.core
import typer.main

COMMANDS = {
    "migrate": "llmwiki.cli.migrate:command",
    "doctor": "llmwiki.cli.doctor:command",
    "ingest": "llmwiki.cli.ingest:command",
    "reembed": "llmwiki.cli.reembed:command",
    "sweep": "jobs.drift_sweep:command",
    "drain": "jobs.compile_drain:command",
    "compile": "llmwiki.cli.compile:command",
    "lint": "jobs.lint_pass:command",
    "nightly": "jobs.nightly:command",
    "schedule": "jobs.scheduler:command",
    "status": "llmwiki.cli.status:command",
    "pages": "llmwiki.cli.page:list_command",
    "page": "llmwiki.cli.page:show",
    "why": "llmwiki.cli.why:command",
    "search": "llmwiki.cli.search:command",
    "ask": "llmwiki.cli.ask:command",
    "promote": "llmwiki.cli.promote:command",
    "evaluate": "llmwiki.cli.evaluate:command",
    "budget": "llmwiki.cli.budget:command",
    "revisions": "llmwiki.cli.rollback:list_command",
    "rollback": "llmwiki.cli.rollback:command",
    "quarantine": "llmwiki.cli.quarantine:app",
    "plans": "llmwiki.cli.plans:app",
}
"""In the order of the help: the place of a function, or of a group of further commands."""


class CommandsOnDemand(typer.core.TyperGroup):
    """A group that imports the one command that is run; its help imports them all."""

    # Typer carries a copy of click whose types it does not export, hence Any.
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """Return the names of the commands."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401
        """Import a command; None where no command has that name."""
        del ctx
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.commands[cmd_name] = _load(cmd_name)
        return self.commands.get(cmd_name)


def _load(name: str) -> Any:  # noqa: ANN401
    module, attribute = COMMANDS[name].split(":")
    found = getattr(import_module(module), attribute)
    holder = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=name)
    else:
        holder.command(name)(found)
    return typer.main.get_group(holder).commands[name]
