from datetime import timedelta

import pytest
from sqlalchemy import Engine, text

from llmwiki.domain import Record, RunId
from llmwiki.errors import RunLockedError
from llmwiki.store import runs

LEASE = timedelta(minutes=5)


def start(engine: Engine, job: str = "nightly") -> RunId:
    with engine.connect() as connection:
        run_id = runs.start_run(connection, job, {}, lease=LEASE)
        connection.commit()
    return run_id


def test_a_second_run_of_a_job_is_refused_with_the_id_of_the_first(engine: Engine) -> None:
    first = start(engine)
    with pytest.raises(RunLockedError, match=f"run {first} of nightly"):
        start(engine)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM run")).scalar_one() == 1


def test_another_job_is_not_in_the_way(engine: Engine) -> None:
    start(engine)
    start(engine, "lint")


def test_a_finished_run_gives_its_lease_back(engine: Engine) -> None:
    first = start(engine)
    with engine.connect() as connection:
        runs.finish_run(connection, first, 0)
        connection.commit()
    assert start(engine) != first


def test_a_dead_run_is_succeeded_when_its_lease_has_expired(engine: Engine) -> None:
    dead = start(engine)
    with engine.connect() as connection:
        connection.execute(text("UPDATE job_lease SET expires_at = now() - interval '1 s'"))
        connection.commit()
    assert start(engine) != dead


def test_records_come_back_newest_first(engine: Engine) -> None:
    run_id = start(engine)
    with engine.connect() as connection:
        for number in range(3):
            record = Record(kind="lint", payload={"number": number})
            runs.add_records(connection, run_id, [record])
        connection.commit()
        stored = runs.latest_records(connection, kind="lint", limit=2)
    assert [entry.record.payload["number"] for entry in stored] == [2, 1]
