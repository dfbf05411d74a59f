"""The one door into the corpus: a folder becomes documents, sections and chunks."""
