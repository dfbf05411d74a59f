import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import StatementError

from llmwiki.store.database_errors import LONGEST, told_by_database

TEXT = "the text of a document " * 100


def refused(engine: Engine, statement: str, *before: str) -> StatementError:
    with engine.connect() as connection:
        for each in before:
            connection.execute(text(each))
        with pytest.raises(StatementError) as raised:
            connection.execute(text(statement), {"text": TEXT})
    assert TEXT[:40] in str(raised.value)
    return raised.value


def test_the_cause_is_told_without_statement_parameters_and_row(engine: Engine) -> None:
    table = "CREATE TEMP TABLE t (v text CHECK (length(v) < 5))"
    told = told_by_database(refused(engine, "INSERT INTO t VALUES (:text)", table))
    assert told == 'new row for relation "t" violates check constraint "t_v_check"'


def test_a_cause_without_end_is_shortened(engine: Engine) -> None:
    told = told_by_database(refused(engine, "SELECT CAST(:text AS integer)"))
    assert told.startswith('invalid input syntax for type integer: "the text of a document')
    assert len(told) <= LONGEST + 2


def test_what_could_not_even_be_sent_tells_why(engine: Engine) -> None:
    with engine.connect() as connection, pytest.raises(StatementError) as raised:
        connection.execute(text("SELECT :text, :missing"), {"text": TEXT})
    told = told_by_database(raised.value)
    assert told.startswith("A value is required for bind parameter 'missing'")
    assert TEXT[:40] not in told
