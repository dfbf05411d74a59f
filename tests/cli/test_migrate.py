import uuid
from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine, make_url, text

from tests.cli.conftest import Command


@pytest.fixture
def empty_database(bare_command: Command, database_server: str) -> Iterator[None]:
    url = make_url(database_server).set(drivername="postgresql+psycopg")
    name = f"llmwiki_empty_{uuid.uuid4().hex[:12]}"
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    bare_command.set(DATABASE_URL=url.set(database=name).render_as_string(hide_password=False))
    yield
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


@pytest.mark.usefixtures("empty_database")
def test_an_unmigrated_database_is_refused_by_all_but_migrate(bare_command: Command) -> None:
    refused = bare_command("status")
    assert refused.code == 2
    assert "run `llmwiki migrate`" in refused.stderr
    migrated = bare_command("migrate", "--json")
    assert migrated.code == 0
    assert migrated.document["revision_before"] is None
    assert bare_command("status").code == 0


@pytest.mark.usefixtures("empty_database")
def test_migrating_again_does_nothing(bare_command: Command) -> None:
    assert "an empty database" in bare_command("migrate").stdout
    again = bare_command("migrate")
    assert again.code == 0
    assert again.stdout.endswith(": nothing to do\n")


@pytest.mark.usefixtures("empty_database")
def test_doctor_names_the_missing_schema_and_still_checks_the_rest(bare_command: Command) -> None:
    outcome = bare_command("doctor", "--json")
    assert outcome.code == 2
    states = {check["name"]: check for check in outcome.document["checks"]}
    assert states["schema"]["state"] == "fail"
    assert "llmwiki migrate" in states["schema"]["detail"]
    assert states["embedder"]["state"] == "ok"
    assert states["budget"]["state"] == "ok"
