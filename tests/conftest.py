"""A real PostgreSQL for every test that asks, and the corpora for those that need them."""

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, make_url

from llmwiki.store.embedded.server import EmbeddedServer
from tests.support.chat_server import ChatServer
from tests.support.databases import Databases, migrated_template
from tests.support.questions import answer_from_first_chunk
from tests.support.wiki import Wiki

SERVER_VARIABLE = "LLMWIKI_TEST_DATABASE_URL"
FOLDER_VARIABLE = "LLMWIKI_TEST_SERVER_FOLDER"
XDIST_VARIABLE = "PYTEST_XDIST_WORKER"
FAST_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--corpora",
        metavar="PATH",
        type=Path,
        help="folder of git bundles, for the tests marked corpora(name)",
    )
    parser.addoption(
        "--rewrite-transcripts",
        action="store_true",
        help="write the golden transcripts anew, to be read before they are committed",
    )
    parser.addoption(
        "--datasets", metavar="PATH", type=Path, help="folder of question sets with judgments"
    )


def pytest_configure() -> None:
    # Set by the first process of the run and inherited by the workers of xdist.
    if XDIST_VARIABLE not in os.environ:
        name = f"llmwiki-tests-{uuid.uuid4().hex[:12]}"
        os.environ[FOLDER_VARIABLE] = str(Path(tempfile.gettempdir()) / name)


def pytest_unconfigure() -> None:
    if XDIST_VARIABLE not in os.environ:
        shutil.rmtree(os.environ.pop(FOLDER_VARIABLE), ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--corpora") is not None:
        return
    skip = pytest.mark.skip(reason="needs --corpora PATH, a folder of git bundles")
    for item in items:
        if item.get_closest_marker("corpora"):
            item.add_marker(skip)


@pytest.fixture
def corpus_bundle(request: pytest.FixtureRequest) -> Path:
    """The git bundle that the marker corpora(name) of the test names."""
    marker = request.node.get_closest_marker("corpora")
    assert marker is not None, "the test asks for corpus_bundle and lacks the marker corpora(name)"
    folder: Path = request.config.getoption("--corpora")
    bundle = folder / f"{marker.args[0].removesuffix('.bundle')}.bundle"
    assert bundle.is_file(), f"--corpora names a folder without {bundle.name}"
    return bundle


@pytest.fixture
def reachable_folder() -> Iterator[Path]:
    """A folder that every account may enter; root's tmp_path is closed to the server's."""
    folder = Path(tempfile.mkdtemp(prefix="llmwiki-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def database_server() -> Iterator[str]:
    """The URL of a server on which databases may be created, shared by all workers."""
    if external := os.environ.get(SERVER_VARIABLE):
        yield external
        return
    home = Path(os.environ[FOLDER_VARIABLE])
    with EmbeddedServer.start(home, settings=FAST_SETTINGS) as server:
        yield server.url("postgres")


@pytest.fixture(scope="session")
def _admin(database_server: str) -> Iterator[Engine]:
    url = make_url(database_server).set(drivername="postgresql+psycopg")
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def databases(_admin: Engine) -> Iterator[Databases]:
    """Empty databases, migrated once per worker."""
    databases = migrated_template(_admin)
    yield databases
    databases.close()


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """The URL of a database of the test's own, migrated and empty."""
    with databases.empty() as url:
        yield url.render_as_string(hide_password=False)


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An engine on a database of the test's own, migrated and empty."""
    engine = create_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A model service that answers questions; see ``answer_from_first_chunk``."""
    with ChatServer(answer_from_first_chunk) as running:
        yield running


@pytest.fixture
def wiki(engine: Engine, tmp_path: Path) -> Wiki:
    """A collection over an empty folder, driven as the jobs drive it."""
    return Wiki(engine, tmp_path)
