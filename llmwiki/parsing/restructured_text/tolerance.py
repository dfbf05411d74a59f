"""Makes docutils accept any directive and role, for the time of one parse.

docutils looks both up in registries of the process. While one of our parses runs, the look-ups
are ours; before and after, docutils is as it was.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives, roles
from docutils.utils import Reporter

from llmwiki.parsing.restructured_text.directives import tolerant_directive
from llmwiki.parsing.restructured_text.roles import tolerant_role

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def tolerance() -> Iterator[None]:
    """Let no directive and no role be unknown inside the block."""
    with _ONE_AT_A_TIME:
        original_directive, original_role = directives.directive, roles.role
        directives.directive, roles.role = _directive, _role
        try:
            yield
        finally:
            directives.directive, roles.role = original_directive, original_role


def _directive(
    directive_name: str, language_module: object, document: nodes.document
) -> tuple[type[Directive] | None, list[nodes.system_message]]:
    del language_module, document
    return tolerant_directive(directive_name), []


def _role(
    role_name: str, language_module: object, lineno: int, reporter: Reporter
) -> tuple[Callable[..., Any] | None, list[nodes.system_message]]:
    del role_name, language_module, lineno, reporter
    return tolerant_role, []
