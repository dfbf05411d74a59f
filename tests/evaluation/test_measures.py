import sys
from math import log2
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmwiki.errors import ConfigurationError
from llmwiki.evaluation.judging import Grade, calculate
from llmwiki.evaluation.measures import MEASURES, mean, measure, needs_of, summarise
from llmwiki.evaluation.retrieved import Retrieved, Witness
from llmwiki.evaluation.running import Needs
from tests.evaluation.conftest import make_answer, make_dataset, make_run

TWO_FAMILIES = make_dataset({"q": [("a", 1, "f1"), ("b", 1, "f2"), ("c", 1, "f1"), ("x", 0, "f3")]})


def values_of(name: str, ranking: list[str]) -> float | None:
    run = make_run(TWO_FAMILIES, {"q": make_answer(ranking)})
    return measure(run)[name]["q"]


def test_ndcg_is_what_a_hand_works_out() -> None:
    gain = 1 / log2(3) + 1 / log2(4) + 1 / log2(5)
    ideal = 1 + 1 / log2(3) + 1 / log2(4)
    assert values_of("nDCG@10", ["x", "a", "c", "b"]) == pytest.approx(gain / ideal)


def test_ndcg_counts_graded_scores() -> None:
    dataset = make_dataset({"q": [("a", 3, None), ("b", 1, None)]})
    run = make_run(dataset, {"q": make_answer(["b", "a"])})
    value = measure(run)["nDCG@10"]["q"]
    assert value == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))


def test_a_document_of_two_families_counts_once_and_by_its_best_score() -> None:
    dataset = make_dataset({"q": [("a", 1, "f1"), ("a", 2, "f2"), ("b", 1, "f1")]})
    run = make_run(dataset, {"q": make_answer(["b", "a"])})
    values = measure(run)
    assert values["nDCG@10"]["q"] == pytest.approx((1 + 2 / log2(3)) / (2 + 1 / log2(3)))
    assert values["R@10"]["q"] == 1


def test_recall_is_the_share_of_the_relevant_among_ten() -> None:
    assert values_of("R@10", ["a", *"mnopqrstu", "b"]) == pytest.approx(1 / 3)


def test_alpha_ndcg_halves_what_a_family_says_again() -> None:
    gain = 1 / log2(3) + 0.5 / log2(4) + 1 / log2(5)
    ideal = 1 + 1 / log2(3) + 0.5 / log2(4)
    assert values_of("alpha_nDCG@10", ["x", "a", "c", "b"]) == pytest.approx(gain / ideal)


def test_family_recall_and_completeness_are_those_of_a_context_of_that_size() -> None:
    answer = make_answer(["a", "b"], contexts={4: ["a", "c"], 10: ["a", "c", "b"]})
    values = measure(make_run(TWO_FAMILIES, {"q": answer}))
    assert values["family_recall@4"]["q"] == 0.5
    assert values["complete@4"]["q"] == 0
    assert values["family_recall@10"]["q"] == 1
    assert values["complete@10"]["q"] == 1


def test_what_pages_of_the_wiki_bring_counts_for_the_whole_context_only() -> None:
    answer = make_answer(["a"], added=["b"])
    values = measure(make_run(TWO_FAMILIES, {"q": answer}))
    assert values["family_recall@10"]["q"] == 0.5
    assert values["context_recall@10"]["q"] == 1


def test_nothing_found_is_zero_and_not_undefined() -> None:
    values = measure(make_run(TWO_FAMILIES, {"q": make_answer([])}))
    assert {name: values[name]["q"] for name in MEASURES} == {
        "nDCG@10": 0,
        "R@10": 0,
        "alpha_nDCG@10": 0,
        "family_recall@4": 0,
        "family_recall@10": 0,
        "complete@4": 0,
        "complete@10": 0,
        "context_recall@10": 0,
        "witness_authority": None,
        "false_family": None,
    }


def test_where_no_family_is_required_completeness_is_undefined_and_not_one() -> None:
    dataset = make_dataset({"q": [("a", 1, None)], "r": [("a", 1, "f")]})
    answers = {"q": make_answer(["a"]), "r": make_answer(["b"])}
    values = measure(make_run(dataset, answers))
    assert values["nDCG@10"] == {"q": 1, "r": 0}
    for name in ("alpha_nDCG@10", "family_recall@4", "complete@4", "context_recall@10"):
        assert values[name] == {"q": None, "r": 0}
    assert mean(values["complete@4"]) == 0


def test_families_that_fire_are_false_where_fewer_than_two_are_required() -> None:
    dataset = make_dataset(
        {
            "none": [("a", 1, None)],
            "one": [("a", 1, "f")],
            "two": [("a", 1, "f"), ("b", 1, "g")],
        }
    )
    fired = Retrieved(chunks=(), documents=frozenset(), automatic_families=("f", "g"))
    answers = {key: make_answer(["a"], retrieved=fired) for key in ("one", "two")}
    values = measure(make_run(dataset, {"none": make_answer(["a"]), **answers}))
    assert values["false_family"] == {"none": 0, "one": 1, "two": None}


def test_witness_authority_is_the_share_of_witnesses_that_have_it() -> None:
    witnesses = tuple(Witness(family="f", authority_met=met) for met in (True, False, True))
    retrieved = Retrieved(chunks=(), documents=frozenset(), witnesses=witnesses)
    run = make_run(TWO_FAMILIES, {"q": make_answer(["a"], retrieved=retrieved)})
    assert measure(run)["witness_authority"]["q"] == pytest.approx(2 / 3)


def test_ids_of_any_script_are_judged() -> None:
    dataset = make_dataset({"Frage ä": [("dokument ü/ß", 1, "f"), ("文書", 1, "g")]})
    run = make_run(dataset, {"Frage ä": make_answer(["文書", "dokument ü/ß"])})
    values = measure(run)
    assert values["nDCG@10"]["Frage ä"] == 1
    assert values["family_recall@4"]["Frage ä"] == 1


def test_only_what_is_needed_is_asked_for_and_measured() -> None:
    assert needs_of(MEASURES, 30) == Needs(contexts=(4,), depth=30)
    assert needs_of(("nDCG@10",), 30) == Needs(contexts=(), depth=30)
    assert needs_of(("complete@4", "complete@10"), 30) == Needs(contexts=(4,), depth=None)
    assert needs_of(("family_recall@10", "false_family"), 30) == Needs(contexts=(), depth=None)
    run = make_run(TWO_FAMILIES, {"q": make_answer(["a"])})
    assert measure(run, ("complete@10", "R@10")).keys() == {"complete@10", "R@10"}


def test_a_summary_leaves_out_what_is_undefined() -> None:
    summary = summarise({"q": 1.0, "r": 0.0, "s": None})
    assert summary is not None
    assert (summary.mean, summary.questions) == (0.5, 2)
    assert summary.low <= summary.mean <= summary.high
    assert summarise({"q": None}) is None
    assert mean({"q": None}) is None


def test_without_the_extra_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'llmwiki-compiler\[evaluation\]'"):
        values_of("nDCG@10", ["a"])


DOCUMENTS = [f"d{number:02}" for number in range(30)]


@given(
    ranking=st.lists(st.sampled_from(DOCUMENTS), unique=True),
    families=st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from("fgh"), min_size=1),
)
def test_the_libraries_agree_with_the_formulas_and_rank_by_nothing_but_the_ranking(
    ranking: list[str], families: dict[str, str]
) -> None:
    dataset = make_dataset({"q": [(document, 1, family) for document, family in families.items()]})
    values = measure(make_run(dataset, {"q": make_answer(ranking)}))
    gains = [1 / log2(rank + 2) for rank, key in enumerate(ranking[:10]) if key in families]
    ideal = [1 / log2(rank + 2) for rank in range(min(10, len(families)))]
    assert values["nDCG@10"]["q"] == pytest.approx(sum(gains) / sum(ideal))
    required = set(families.values())
    for size in (4, 10):
        covered = {families[key] for key in ranking[:size] if key in families}
        assert values[f"family_recall@{size}"]["q"] == pytest.approx(len(covered) / len(required))
        assert values[f"complete@{size}"]["q"] == float(covered == required)


@given(st.permutations(DOCUMENTS))
def test_other_names_for_the_documents_change_no_value(names: list[str]) -> None:
    renamed = dict(zip(DOCUMENTS, names, strict=True))
    relevant, ranking = DOCUMENTS[3:9], DOCUMENTS[:12]

    def value(name_of: dict[str, str]) -> list[float]:
        grades = [
            Grade(query_id="q", document_id=name_of[key], score=1, subtopic=str(number % 2))
            for number, key in enumerate(relevant)
        ]
        found = calculate(
            ("nDCG@10", "StRecall@4"), grades, {"q": [name_of[key] for key in ranking]}
        )
        return [found[name]["q"] for name in ("nDCG@10", "StRecall@4")]

    assert value(renamed) == value({key: key for key in DOCUMENTS})


def test_the_mean_is_that_of_the_questions() -> None:
    assert mean({"q": 0.25, "r": 0.5}) == fmean((0.25, 0.5))
