"""Markdown and MDX, with the dialects of Hugo, MkDocs, Docusaurus and MyST."""
