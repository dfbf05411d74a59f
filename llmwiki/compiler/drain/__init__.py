"""Compiles the stale pages, oldest first, within the budget of calls."""
