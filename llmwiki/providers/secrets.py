"""Keeps the keys of services out of what is shown and logged."""

_SHORTEST = 8
"""Shorter keys are those of tests and of services that ask for none; they are common words."""


def without_secret(text: str, secret: str | None) -> str:
    """Return the text with the key blanked, for services that quote it in their complaints."""
    if secret is None or len(secret) < _SHORTEST:
        return text
    return text.replace(secret, "[key]")
