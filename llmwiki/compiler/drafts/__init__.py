"""Builds pages from sentences of the chunks, without a model."""
