import signal
from collections.abc import Callable
from typing import NoReturn

import pytest
from sqlalchemy import Engine

from jobs import exit_codes
from tests.batch.batch_wiki import FILES, BatchWiki
from tests.batch.killed_run import run_until
from tests.batch.seams import COLLECTION, SUBMISSION, stopping
from tests.support.batch_server import BatchServer, Fault
from tests.support.forked import PROCESSES

MakeWiki = Callable[..., BatchWiki]
REFUSED_LINE = {"error": {"message": "no"}}
WRITTEN = [seam for seam in SUBMISSION if seam != "before the row"]


class PulledPlugError(Exception):
    pass


def pull_the_plug() -> NoReturn:
    raise PulledPlugError


def interrupt(wiki: BatchWiki, seam: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*stopping((SUBMISSION | COLLECTION)[seam], pull_the_plug))
        with pytest.raises(PulledPlugError):
            wiki.by_batch()


def kill(wiki: BatchWiki, server: BatchServer, seam: str) -> None:
    url = wiki.engine.url.render_as_string(hide_password=False)
    process = PROCESSES.Process(target=run_until, args=(seam, url, wiki.folder, server.url))
    process.start()
    process.join(120)
    assert process.exitcode == -signal.SIGKILL


def let_time_pass_over_the_dead(wiki: BatchWiki) -> None:
    wiki.change("UPDATE run SET heartbeat_at = now() - interval '6 minutes'")
    wiki.change("UPDATE job_lease SET expires_at = now()")


def assert_sent_once(wiki: BatchWiki, server: BatchServer) -> None:
    assert server.counts["POST /v1/files"] == 1
    assert server.counts["POST /v1/batches"] == 1
    assert server.requests == 3
    assert wiki.rows("SELECT used FROM budget_day WHERE budget = 'chat'") == [(3,)]


def assert_written_once(wiki: BatchWiki) -> None:
    assert wiki.generators() == {"model": 8}
    revisions = wiki.rows("SELECT DISTINCT revision FROM page WHERE kind = 'page'")
    assert revisions == [(2,)], "a draft, then the model's text"
    assert wiki.outcomes() == {"answered": 3}
    assert wiki.states() == ["collected"]
    assert wiki.rows("SELECT count(*) FROM page WHERE lease_until IS NOT NULL") == [(0,)]


@pytest.mark.parametrize("seam", WRITTEN)
def test_an_interrupted_submit_is_adopted_and_not_sent_again(
    make_wiki: MakeWiki, server: BatchServer, seam: str
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    interrupt(wiki, seam)
    adopted = wiki.by_batch()
    assert adopted.facts["submitted_requests"] == 0
    assert adopted.facts["pending_requests"] == 3
    assert_sent_once(wiki, server)
    server.finish()
    wiki.by_batch()
    assert_written_once(wiki)
    assert_sent_once(wiki, server)


@pytest.mark.parametrize("seam", COLLECTION)
def test_an_interrupted_collection_goes_on_and_writes_no_page_twice(
    make_wiki: MakeWiki, server: BatchServer, seam: str
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    wiki.by_batch()
    server.finish()
    interrupt(wiki, seam)
    result = wiki.by_batch()
    assert (result.facts["ignored_lines"], result.facts["submitted_requests"]) == (0, 0)
    assert result.facts["given_back"] == 0
    assert_written_once(wiki)
    assert_sent_once(wiki, server)


def test_an_interrupted_collection_counts_no_failure_twice(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    wiki.by_batch()
    server.finish(answered=0, errors=dict.fromkeys(range(3), REFUSED_LINE))
    interrupt(wiki, "before the first unit")
    assert wiki.by_batch(budget=0).facts["failed"] == 5
    assert wiki.rows("SELECT DISTINCT attempts FROM page WHERE kind = 'page'") == [(1,)]


def test_an_interrupted_collection_writes_no_page_twice_that_is_stale_again(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    wiki.by_batch()
    server.finish()
    wiki.ingest({name: text.replace("3 keeps", "3 loses") for name, text in FILES.items()})
    interrupt(wiki, "before the first unit")
    assert wiki.by_batch(budget=0).facts["compiled"] == 5
    assert wiki.rows("SELECT DISTINCT revision FROM page WHERE kind = 'page'") == [(2,)]
    assert len(wiki.stale()) == 8


def test_units_of_a_batch_that_was_never_written_are_spent_and_its_pages_are_free(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    interrupt(wiki, "before the row")
    assert wiki.rows("SELECT count(*) FROM page WHERE lease_until IS NOT NULL") == [(0,)]
    wiki.by_batch()
    assert server.requests == 3
    assert wiki.rows("SELECT used FROM budget_day WHERE budget = 'chat'") == [(6,)]


@pytest.mark.parametrize("seam", ["after the upload", "after the batch"])
def test_a_submit_that_was_killed_is_adopted_once_its_run_is_surely_dead(
    make_wiki: MakeWiki, server: BatchServer, seam: str
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    kill(wiki, server, seam)
    counts = server.counts.copy()
    # Another job finds the batch; for all it knows, the first is about to send it.
    waiting = wiki.night_by_batch().facts["drain"]
    assert (waiting["pending_requests"], waiting["submitted_requests"]) == (3, 0)
    assert server.counts == counts
    let_time_pass_over_the_dead(wiki)
    wiki.by_batch()
    assert_sent_once(wiki, server)
    server.finish()
    wiki.by_batch()
    assert_written_once(wiki)


@pytest.mark.parametrize("seam", ["after the first page", "after the first unit"])
def test_a_collection_that_was_killed_goes_on(
    make_wiki: MakeWiki, server: BatchServer, seam: str
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    wiki.by_batch()
    server.finish()
    kill(wiki, server, seam)
    let_time_pass_over_the_dead(wiki)
    wiki.by_batch()
    assert_written_once(wiki)
    assert_sent_once(wiki, server)


def test_a_run_killed_before_it_wrote_its_batch_keeps_its_pages_no_longer_than_a_drain(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    kill(wiki, server, "before the row")
    (lease,) = wiki.rows("SELECT max(lease_until) < now() + interval '3 hours' FROM page")
    assert lease == (True,)
    assert server.counts.total() == 0


@pytest.mark.parametrize("keeps_metadata", [True, False])
def test_a_batch_that_began_although_the_service_failed_is_found(
    make_wiki: MakeWiki, server: BatchServer, *, keeps_metadata: bool
) -> None:
    server.keeps_metadata = keeps_metadata
    server.faults["POST /v1/batches"].append(Fault(status=502, after=True))
    wiki = make_wiki()
    wiki.ingest(FILES)
    assert wiki.by_batch().exit_code == exit_codes.DONE
    assert wiki.states() == ["submitted"]
    assert_sent_once(wiki, server)


def test_whether_a_batch_began_is_never_guessed(make_wiki: MakeWiki, server: BatchServer) -> None:
    server.faults["POST /v1/batches"].append(Fault(status=503))
    wiki = make_wiki()
    wiki.ingest(FILES)
    result = wiki.by_batch()
    assert (result.exit_code, result.facts["stopped_reason"]) == (
        exit_codes.STOPPED_EARLY,
        "outage",
    )
    assert server.counts["POST /v1/batches"] == 1
    wiki.by_batch()
    assert wiki.states() == ["submitted"]
    assert (server.counts["POST /v1/files"], len(server.batches)) == (1, 1)


def test_a_quota_that_is_gone_leaves_the_batch_to_the_next_run(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    error = {"code": "insufficient_quota", "message": "no credit"}
    server.faults["POST /v1/files"].append(Fault(status=429, body={"error": error}))
    wiki = make_wiki()
    wiki.ingest(FILES)
    result = wiki.by_batch()
    assert (result.exit_code, result.facts["stopped_reason"]) == (
        exit_codes.STOPPED_EARLY,
        "quota",
    )
    assert wiki.by_batch().facts["adopted_batches"] == 1
    assert server.requests == 3


def test_an_interrupted_batch_whose_pages_went_elsewhere_is_not_sent(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    interrupt(wiki, "before the upload")
    wiki.change("UPDATE page SET lease_token = lease_token + 1")
    result = wiki.by_batch(budget=0)
    assert wiki.states() == ["failed"]
    assert wiki.outcomes() == {"not-sent": 3}
    assert (result.facts["adopted_batches"], len(server.files)) == (0, 0)


def test_two_jobs_do_not_collect_the_same_batch(
    make_wiki: MakeWiki, server: BatchServer, engine: Engine
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    wiki.by_batch()
    server.finish()
    read = server.handle
    inner: dict[str, dict[str, int]] = {}

    def read_meanwhile(*request: object) -> object:
        if "content" in str(request[1]) and not inner:
            inner["night"] = {}
            other = BatchWiki(engine, wiki.folder, wiki.settings)
            other.collection = wiki.collection
            inner["night"] = other.night_by_batch().facts["drain"]
        return read(*request)  # type: ignore[arg-type]

    server.handle = read_meanwhile  # type: ignore[assignment,method-assign]
    wiki.by_batch()
    assert inner["night"]["collected_requests"] == 0
    assert_written_once(wiki)
