"""The main job on documentation that is not ours: two releases of Flask, two nights.

Run it as ``make demo``. It downloads the two source distributions from the package registry,
keeps everything in one folder, needs no key and no database server, and prints each command
before its output, so that every step can be repeated by hand.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

PROJECT = "flask"
OLDER, NEWER = "3.0.3", "3.1.2"
LLMWIKI = Path(sys.executable).parent / "llmwiki"
NEXT = """
Next, with a folder of your own:

  export LLMWIKI_DATABASE_URL=embedded:$HOME/llmwiki
  {llmwiki} migrate
  {llmwiki} ingest PATH --collection NAME
  {llmwiki} nightly
  {llmwiki} ask "a question" --collection NAME

crontab.example repeats the second and third every night. This demo's files are in
{folder}; `make clean` removes those in the checkout.
"""


def main() -> None:
    """Run both nights."""
    folder = _demo_folder()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    older, newer = (_documentation(release, folder) for release in (OLDER, NEWER))
    environment = {
        **os.environ,
        "LLMWIKI_DATABASE_URL": f"embedded:{folder / 'database'}",
        "LLMWIKI_LOG_LEVEL": "warning",
        "COLUMNS": os.environ.get("COLUMNS", "100"),
    }

    def llmwiki(*arguments: str) -> None:
        print(f"\n$ llmwiki {shlex.join(arguments)}", flush=True)
        subprocess.run([LLMWIKI, *arguments], env=environment, check=True)

    _compile(llmwiki, older, newer)
    _ask(llmwiki)
    print(NEXT.format(llmwiki=LLMWIKI, folder=folder))


def _compile(llmwiki: Callable[..., None], older: Path, newer: Path) -> None:
    _heading(f"Night one: the documentation of {PROJECT} {OLDER} becomes a wiki")
    llmwiki("migrate")
    llmwiki("ingest", str(older), "--collection", PROJECT)
    llmwiki("nightly")
    _heading("A page, each statement with the chunk that it comes from")
    llmwiki("page", "deploying/waitress", "--collection", PROJECT)
    _heading(f"Night two: {PROJECT} {NEWER} has moved on; only what moved is compiled")
    llmwiki("ingest", str(newer), "--collection", PROJECT)
    llmwiki("sweep")
    llmwiki("why", "config/builtin-configuration-values", "--collection", PROJECT)
    llmwiki("nightly")
    _heading("A third run finds nothing to do")
    llmwiki("nightly")


def _ask(llmwiki: Callable[..., None]) -> None:
    _heading("Questions, without a model: the wiki stands beside the chunks, its lint is green")
    llmwiki("promote", "--collection", PROJECT)
    llmwiki("ask", "How do I limit the size of an uploaded file?", "--trace")
    llmwiki("ask", "Which river flows through Budapest?")
    _heading("What there is now")
    llmwiki("status")


def _demo_folder() -> Path:
    """Return a folder that the account of the database can reach.

    PostgreSQL does not run as root, so root's own folders are of no use to it.
    """
    checkout = Path(__file__).resolve().parent.parent
    reachable = os.geteuid() != 0 or all(
        parent.stat().st_mode & 0o001 for parent in (checkout, *checkout.parents)
    )
    return checkout / ".demo" if reachable else Path(tempfile.gettempdir()) / "llmwiki-demo"


def _documentation(release: str, folder: Path) -> Path:
    """Download a source distribution and return the path of its docs folder."""
    sources = folder / release
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--no-binary", ":all:"]
    requirement = f"{PROJECT}=={release}"
    print(f"$ pip download --no-deps --no-binary :all: {requirement}", flush=True)
    subprocess.run([*command, "--dest", str(sources), requirement], check=True)
    (archive,) = sources.glob("*.tar.gz")
    with tarfile.open(archive) as content:
        content.extractall(sources, filter="data")
    (docs,) = sources.glob(f"{PROJECT}-*/docs")
    return docs


def _heading(text: str) -> None:
    print(f"\n{'─' * 80}\n{text}\n{'─' * 80}", flush=True)


if __name__ == "__main__":
    main()
