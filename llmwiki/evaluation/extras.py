"""Opens the libraries of the extra `evaluation`, which nothing else of the project needs."""

import importlib
from typing import Any

from llmwiki.errors import ConfigurationError

EXTRA = "llmwiki-compiler[evaluation]"


def require_libraries(*, plots: bool) -> None:
    """Find out before hours are spent. Raises ConfigurationError that says what to install."""
    for module in ("ir_measures", "pyndeval", *(["matplotlib"] if plots else [])):
        require(module)


def require(module: str) -> Any:  # noqa: ANN401 - a module
    """Import a library of the extra. Raises ConfigurationError that says what to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ConfigurationError(
            f"evaluation needs {module.partition('.')[0]}, which is not installed; "
            f"run `pip install '{EXTRA}'`"
        ) from error
