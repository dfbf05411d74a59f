"""The text of PDF files (an extra)."""
