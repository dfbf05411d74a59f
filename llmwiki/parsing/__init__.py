"""The formats: the bytes of a file become a document, whatever its format was."""
