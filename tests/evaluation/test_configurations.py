from pathlib import Path

import pytest
from pydantic import SecretStr

from llmwiki.config import RerankSettings, RetrievalSettings
from llmwiki.errors import UsageError
from llmwiki.evaluation.configurations import Configuration, configure
from llmwiki.evaluation.tables import TABLES

BASE = Configuration(
    name="configured",
    retrieval=RetrievalSettings(page_slots=7),
    rerank=RerankSettings(api_key=SecretStr("hidden"), path=Path("model")),
)


def test_settings_are_replaced_by_name_and_the_others_stay() -> None:
    overrides = ["fusion=rrf", "weights.dense=0", "retrieval.weights.lexical=0.5", "rerank.model=m"]
    configuration = configure(BASE, "mine", overrides)
    assert configuration.name == "mine"
    assert configuration.retrieval.fusion == "rrf"
    assert configuration.retrieval.weights.dense == 0
    assert configuration.retrieval.weights.lexical == 0.5
    assert configuration.retrieval.weights.identifiers == BASE.retrieval.weights.identifiers
    assert configuration.retrieval.page_slots == 7
    assert configuration.rerank.model == "m"
    assert configuration.rerank.api_key == SecretStr("hidden")


def test_wiki_and_the_baseline_of_diversity_are_settings_of_a_run() -> None:
    configuration = configure(BASE, "mine", ["wiki=off", "mmr=0.7"])
    assert (configuration.wiki, configuration.diversity) == ("off", 0.7)
    assert configuration.retrieval == BASE.retrieval


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("fusion", "write KEY=VALUE"),
        ("fusion=best", "retrieval.fusion: Input should be"),
        ("fuson=rrf", r"retrieval.fuson: Extra inputs .* known are retrieval"),
        ("weights=3", "retrieval.weights: Input should be"),
        ("weights.dense.more=1", "retrieval.weights.dense"),
        ("retrieval=1", "name a setting of it"),
        ("embedder.provider=openai", "retrieval.embedder: Extra inputs"),
        ("rerank.provider=none", "rerank.provider: Input should be"),
        ("limit=5", "--depth"),
        ("wiki=maybe", "gate, on, off"),
        ("mmr=2", "from 0 .* to 1"),
        ("mmr=nan", "from 0 .* to 1"),
        ("mmr=x", "from 0 .* to 1"),
        ("=1", "Extra inputs"),
    ],
)
def test_a_setting_that_cannot_be_is_told(override: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        configure(BASE, "mine", [override])


def test_a_key_cannot_be_both_a_value_and_a_section() -> None:
    with pytest.raises(UsageError, match="has a value of its own"):
        configure(BASE, "mine", ["weights=1", "weights.dense=1"])


def test_every_row_of_every_table_is_a_configuration_that_can_be() -> None:
    for table in TABLES.values():
        names = [configuration.name for configuration in table.configurations(BASE)]
        assert names == list(table.rows)
        assert table.reference in names
