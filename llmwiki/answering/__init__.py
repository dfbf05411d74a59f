"""Answers: a model's words where a call is free, the passages themselves where it is not."""
