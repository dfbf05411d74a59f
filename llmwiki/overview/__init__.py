"""The table of contents: documents become topics, topics keep their keys, no model is asked."""
