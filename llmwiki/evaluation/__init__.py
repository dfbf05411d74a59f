"""Measures answers: datasets, runs of configurations over them, measures, tests and reports."""
