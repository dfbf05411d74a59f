import pytest
from sqlalchemy import Engine, make_url, text

from llmwiki.errors import ConfigurationError, DatabaseError, DatabaseUnreachableError
from llmwiki.store import engine as engine_module
from llmwiki.store.engine import (
    ServerFacts,
    open_database,
    parse_url,
    require_pgvector,
    server_facts,
)

SECRET = "hunter2-Zq"  # noqa: S105 - looked for in the messages


@pytest.mark.parametrize("missing", [None, "", "  "])
def test_a_missing_url_is_answered_with_the_setting_and_both_examples(missing: str | None) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_database(missing)
    for part in ("LLMWIKI_DATABASE_URL", "llmwiki.toml", "postgresql://", "embedded:"):
        assert part in str(caught.value)


@pytest.mark.parametrize("scheme", ["postgre", "sqlite", "mysql+pymysql", "postgresql+asyncpg"])
def test_another_scheme_is_refused_by_name_without_the_password(scheme: str) -> None:
    with pytest.raises(ConfigurationError, match="not supported") as caught:
        open_database(f"{scheme}://user:{SECRET}@host/database")
    assert f"{scheme}://" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "malformed",
    [
        f"user:{SECRET}@host/database",
        f"postgres:{SECRET}@host/database",
        f"host=localhost password={SECRET}",
        f"postgresql://user:{SECRET}@host:port/database",
        f"postgresql://user:{SECRET}@{SECRET}@host/database",
        f"://user:{SECRET}@host/database",
        f"post gresql://user:{SECRET}@host/database",
    ],
)
def test_a_malformed_url_is_refused_without_the_password(malformed: str) -> None:
    with pytest.raises(ConfigurationError, match="malformed") as caught:
        open_database(malformed)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg", "PostgreSQL"])
def test_every_spelling_of_postgresql_means_psycopg(scheme: str) -> None:
    url = parse_url(f"{scheme}://user:p%40ss@host:5433/database?sslmode=require")
    assert url.drivername == "postgresql+psycopg"
    assert (url.password, url.port, url.query["sslmode"]) == ("p@ss", 5433, "require")


def test_a_server_that_does_not_answer_is_unreachable() -> None:
    with pytest.raises(DatabaseUnreachableError, match=r"127\.0\.0\.1") as caught:
        open_database(f"postgresql://user:{SECRET}@127.0.0.1:1/database")
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is not None


def test_an_unknown_connection_option_is_a_mistake_in_the_configuration() -> None:
    with pytest.raises(ConfigurationError, match="colour"):
        open_database(f"postgresql://user:{SECRET}@127.0.0.1:1/database?colour=red")


def test_a_database_that_does_not_exist_is_unreachable(database_server: str) -> None:
    url = make_url(database_server).set(database="no_such_database", password=SECRET)
    with pytest.raises(DatabaseUnreachableError, match="no_such_database") as caught:
        open_database(url.render_as_string(hide_password=False))
    assert SECRET not in str(caught.value)


def test_a_wrong_password_is_unreachable_and_stays_hidden(database_server: str) -> None:
    url = make_url(database_server).set(username="no_such_role", password=SECRET)
    with pytest.raises(DatabaseUnreachableError, match="no_such_role") as caught:
        open_database(url.render_as_string(hide_password=False))
    assert SECRET not in str(caught.value)


def test_sessions_name_themselves_and_run_in_utc(database_url: str) -> None:
    with open_database(database_url) as database, database.engine.connect() as connection:
        assert connection.execute(text("SHOW timezone")).scalar_one() == "UTC"
        assert connection.execute(text("SHOW application_name")).scalar_one() == "llmwiki"


def test_options_in_the_url_are_kept(database_url: str) -> None:
    url = make_url(database_url).update_query_dict(
        {"options": "-c work_mem=7MB", "application_name": "mine"}
    )
    with (
        open_database(url.render_as_string(hide_password=False)) as database,
        database.engine.connect() as connection,
    ):
        assert connection.execute(text("SHOW work_mem")).scalar_one() == "7MB"
        assert connection.execute(text("SHOW timezone")).scalar_one() == "UTC"
        assert connection.execute(text("SHOW application_name")).scalar_one() == "mine"


def test_the_facts_of_a_server_name_both_versions(engine: Engine) -> None:
    facts = require_pgvector(engine)
    assert int(facts.postgresql.split(".")[0]) >= 16
    assert facts.pgvector is not None
    assert facts.pgvector_available is not None
    assert facts == server_facts(engine)


@pytest.mark.parametrize(
    ("installed", "available", "remedy"),
    [
        (None, None, "install `postgresql-18-pgvector`"),
        (None, "0.8.1", "install `postgresql-18-pgvector`"),
        ("0.7.4", "0.8.1", "install `postgresql-18-pgvector`"),
        ("0.8.1", "0.8.10", "run `ALTER EXTENSION vector UPDATE` in this database"),
    ],
)
def test_a_pgvector_that_is_absent_or_old_is_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
    engine: Engine,
    installed: str | None,
    available: str | None,
    remedy: str,
) -> None:
    facts = ServerFacts(postgresql="18.4", pgvector=installed, pgvector_available=available)
    monkeypatch.setattr(engine_module, "server_facts", lambda _: facts)
    with pytest.raises(DatabaseError) as caught:
        require_pgvector(engine)
    assert remedy in str(caught.value)


@pytest.mark.parametrize(
    ("installed", "available"), [(None, "0.8.2"), ("0.8.10", "0.8.10"), ("0.8.5", "0.8.1")]
)
def test_a_recent_pgvector_will_do_whether_created_yet_or_not(
    monkeypatch: pytest.MonkeyPatch, engine: Engine, installed: str | None, available: str
) -> None:
    facts = ServerFacts(postgresql="18.4", pgvector=installed, pgvector_available=available)
    monkeypatch.setattr(engine_module, "server_facts", lambda _: facts)
    assert require_pgvector(engine) == facts


def test_embedded_without_a_path_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="path"):
        open_database("embedded:")


def test_embedded_on_windows_is_refused_with_the_alternative(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(DatabaseError, match=r"Linux and macOS.*postgresql://"):
        open_database("embedded:database")
