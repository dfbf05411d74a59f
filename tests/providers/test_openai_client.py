import time

import openai
import pytest

from llmwiki.errors import ConfigurationError
from llmwiki.providers.openai_client import open_client
from tests.support.chat_server import Answer, ChatServer, completion

LIMIT = 0.2


def ask(server: ChatServer, request_timeout: float = LIMIT) -> object:
    with open_client(base_url=server.url, api_key="key", request_timeout=request_timeout) as client:
        return client.chat.completions.create(model="m", messages=[])


def test_openai_itself_needs_a_key() -> None:
    with pytest.raises(ConfigurationError, match="no API key"):
        open_client(base_url=None, api_key=None, request_timeout=1.0)


def test_a_service_of_ones_own_needs_none(server: ChatServer) -> None:
    with open_client(base_url=server.url, api_key=None, request_timeout=1.0) as client:
        client.chat.completions.create(model="m", messages=[])

    assert server.headers[0]["authorization"] == "Bearer unused"


@pytest.mark.parametrize("key", ["sk-1\n", "sk 1", "schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused(key: str) -> None:
    with pytest.raises(ConfigurationError, match="API key contains"):
        open_client(base_url=None, api_key=key, request_timeout=1.0)


def test_an_address_without_scheme_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="does not begin with http"):
        open_client(base_url="localhost:11434/v1", api_key=None, request_timeout=1.0)


def test_the_environment_cannot_redirect_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.example")

    with open_client(base_url=None, api_key="key", request_timeout=1.0) as client:
        assert client.base_url.host == "api.openai.com"


def test_a_failure_is_one_request(server: ChatServer) -> None:
    server.enqueue(Answer(status=500), completion("never asked for"))

    with pytest.raises(openai.InternalServerError):
        ask(server)

    assert server.requests == 1


def test_a_silent_service_is_given_up(server: ChatServer) -> None:
    server.enqueue(Answer(delay=30.0))
    started_at = time.monotonic()

    with pytest.raises(openai.APITimeoutError):
        ask(server)

    assert time.monotonic() - started_at < 10 * LIMIT
    assert server.requests == 1


def test_an_answer_that_trickles_is_given_up(server: ChatServer) -> None:
    server.enqueue(Answer(trickle=0.02))
    started_at = time.monotonic()

    with pytest.raises(openai.APITimeoutError):
        ask(server)

    assert time.monotonic() - started_at < 10 * LIMIT


def test_a_failure_that_trickles_is_given_up(server: ChatServer) -> None:
    server.enqueue(Answer(status=500, trickle=0.02))

    with pytest.raises(openai.APITimeoutError):
        ask(server)
