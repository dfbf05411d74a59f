"""Compiles pages through a provider's Batch API: sends requests, collects the answers later."""
