"""Answers: a model's words where a call is free, the chunks themselves where it is not."""
