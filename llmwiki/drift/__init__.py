"""Notices that sources moved: recorded edges against current ones, never a latch."""
