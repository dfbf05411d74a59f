"""The command `llmwiki`: a thin layer from arguments to services and back to text."""

import sys
from importlib import metadata
from io import TextIOWrapper
from typing import Annotated

import typer

from jobs import exit_codes
from llmwiki.cli.commands import CommandsOnDemand
from llmwiki.cli.output import print_line

NAME = "llmwiki"
DISTRIBUTION = "llmwiki-compiler"

app = typer.Typer(
    name=NAME,
    cls=CommandsOnDemand,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            version = metadata.version(DISTRIBUTION)
        except metadata.PackageNotFoundError:
            version = "from a checkout that is not installed"
        print_line(f"{NAME} {version}")
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option(
        "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
    ),
]


@app.callback()
def _describe(*, version: VersionOption = False) -> None:
    """Compile documentation into a cited wiki in PostgreSQL.

    Begin with `migrate`, then `ingest PATH --collection NAME`, then `nightly`.
    Exit codes: 0 done, 1 pages or documents failed, 2 usage, configuration or database,
    3 stopped early by the provider or the deadline, 75 another run of the job is alive.
    """
    del version


def main() -> None:
    """Run the command line; the entry point of the distribution."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Under cron the encoding can be ASCII; a title must not end the run.
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name=NAME)
    except KeyboardInterrupt:
        # While modules are imported; a command that runs ends by itself.
        sys.exit(exit_codes.INTERRUPTED)


if __name__ == "__main__":
    main()
