"""Words by their weight: how much of what is asked for a text holds."""

from collections.abc import Container, Mapping


def share(weights: Mapping[str, float], held: Container[str], *, unknown: float = 0.0) -> float:
    """Return the share of the weights whose words are held, from 0 to 1; 0 where there are none.

    ``unknown`` is the weight of words that nothing can hold.
    """
    total = sum(weights.values()) + unknown
    if total <= 0:
        return 0.0
    return sum(weight for word, weight in weights.items() if word in held) / total
