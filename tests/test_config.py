import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from llmwiki.config import GateLimits, Settings, load_settings
from llmwiki.errors import ConfigurationError


@pytest.fixture(autouse=True)
def _empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in ("LLMWIKI_CONFIG", "LLMWIKI_DATABASE_URL"):
        monkeypatch.delenv(variable, raising=False)


def refused(text: str) -> str:
    Path("llmwiki.toml").write_text(text)
    with pytest.raises(ConfigurationError) as raised:
        load_settings()
    return str(raised.value)


def test_nothing_has_to_be_configured() -> None:
    assert load_settings().generator.provider == "extractive"


def test_the_environment_beats_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("llmwiki.toml").write_text("[ingest]\nchunk_tokens = 300\n")
    assert load_settings().ingest.chunk_tokens == 300
    monkeypatch.setenv("LLMWIKI_INGEST__CHUNK_TOKENS", "150")
    assert load_settings().ingest.chunk_tokens == 150


def test_an_unknown_key_is_named_with_its_file() -> None:
    message = refused("[ingest]\nchunk_token = 300\n")
    assert "ingest.chunk_token: Extra inputs are not permitted" in message
    assert "llmwiki.toml" in message


def test_a_file_that_is_no_toml_is_an_error() -> None:
    assert "llmwiki.toml is not valid TOML" in refused("[ingest\n")


def test_a_named_file_has_to_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLMWIKI_CONFIG", "elsewhere.toml")
    with pytest.raises(ConfigurationError, match=r"names elsewhere\.toml, which is not a file"):
        load_settings()


def test_an_unknown_time_zone_is_an_error() -> None:
    assert "no time zone is named 'Europe/Atlantis'" in refused(
        '[budget]\ntime_zone = "Europe/Atlantis"\n'
    )


def test_a_lease_has_to_outlast_one_request_with_all_its_attempts() -> None:
    message = refused('[generator]\nprovider = "openai"\n[compile]\nlease = "PT10M"\n')
    assert "one request can take 2:11:02" in message
    assert "raise the lease" in message


def test_a_figure_of_the_gate_can_be_configured_and_a_misspelt_one_is_refused() -> None:
    Path("llmwiki.toml").write_text("[compile.gate]\nmax_dropped_share = 0.1\n")
    assert load_settings().compile.gate.max_dropped_share == 0.1
    assert "max_droped_share" in refused("[compile.gate]\nmax_droped_share = 0.1\n")


def test_settings_cannot_be_changed_after_they_were_read() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().log_level = "debug"  # type: ignore[misc]


def numeric_settings(model: type[BaseModel], section: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield section, key and type of every setting that is a number or a length of time."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from numeric_settings(field.annotation, f"{section}.{name}".strip("."))
        elif field.annotation is GateLimits:
            for limit in dataclasses.fields(GateLimits):
                yield f"{section}.{name}", limit.name, str(limit.type)
        elif any(kind in str(field.annotation) for kind in ("int", "float", "timedelta")):
            yield section, name, str(field.annotation)


NUMERIC = [*numeric_settings(Settings)]


def test_every_number_is_found() -> None:
    found = {f"{section}.{key}" for section, key, _ in NUMERIC}
    assert {"rerank.deadline", "compile.gate.max_tags", "retrieval.weights.dense"} < found
    assert len(found) > 50


@pytest.mark.parametrize(("section", "key", "kind"), NUMERIC)
def test_no_number_is_endless_absurd_or_none(section: str, key: str, kind: str) -> None:
    absurd = '"P9999999D"' if "timedelta" in kind else "9" * 30
    for value in ("inf", "nan", "-inf", "-1", absurd):
        message = refused(f"[{section}]\n{key} = {value}\n")
        assert message.startswith(f"configuration: {section}.{key}: ")
        assert "llmwiki.toml" in message
