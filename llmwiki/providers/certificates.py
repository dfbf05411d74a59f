"""The certificates that services are trusted by, read once in a process."""

import ssl
from functools import cache

import httpx2


@cache
def trusted_certificates() -> ssl.SSLContext:
    """Return the context for every HTTPS client; reading the authorities takes a tenth of a second.

    ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` count as httpx reads them.
    """
    return httpx2.create_ssl_context()
