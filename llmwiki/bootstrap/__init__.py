"""The only wiring: from settings to a program."""

from llmwiki.bootstrap.app import App, build

__all__ = ["App", "build"]
