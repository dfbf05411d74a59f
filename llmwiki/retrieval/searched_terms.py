"""Chooses, purely, which words of a question are searched for; the others only count."""

from collections.abc import Mapping

from llmwiki.store.word_statistics import Term

NEGLIGIBLE_WEIGHT = 0.2
"""Share of a question's weight that its commonest words may have and not be searched for. They
count in the scores of what is found. At 100 thousand chunks .99 of the ten best stayed what they
were in less than half of the time; with .1 all of them did, in two thirds (see docs/latency.md)."""

WORTH_SAVING = 12_000
"""Postings. Below it every word is searched for."""

POSTINGS_AT_MOST = 40_000
"""What one search reads, about: a bound on the time of questions as long as a page."""


def searched_terms(weights: Mapping[Term, float]) -> frozenset[Term]:
    """Return the rarest terms, until what is left weighs little or there are postings enough."""
    chosen: list[Term] = []
    postings = 0
    left = sum(weights.values())
    negligible = NEGLIGIBLE_WEIGHT * left
    for term in sorted(weights, key=lambda term: (term.frequency, term.lexeme)):
        postings += term.frequency
        saving = postings > WORTH_SAVING and left <= negligible
        if chosen and (saving or postings > POSTINGS_AT_MOST):
            break
        chosen.append(term)
        left -= weights[term]
    return frozenset(chosen)
