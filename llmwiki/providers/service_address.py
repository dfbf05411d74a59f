"""What a service's address and key must be like, before anything is sent there."""

import httpx2

from llmwiki.errors import ConfigurationError


def require_sendable(base_url: str | None, api_key: str | None) -> None:
    """Check that an HTTP request can carry the key, and that the address is one.

    Raises ConfigurationError, which never contains the key.
    """
    if api_key and not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
        raise ConfigurationError("the API key contains blanks, line breaks or non-ASCII letters")
    if base_url is None:
        return
    if not base_url.startswith(("http://", "https://")):
        raise ConfigurationError(f"base_url {base_url!r} does not begin with http:// or https://")
    try:
        httpx2.URL(base_url)
    except httpx2.InvalidURL as error:
        raise ConfigurationError(f"base_url {base_url!r} is not an address: {error}") from error
