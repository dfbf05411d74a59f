"""A compiler from documentation to a cited wiki, over PostgreSQL with pgvector."""

from importlib.metadata import version

__version__ = version("llmwiki-compiler")
