"""A PostgreSQL server that the program starts by itself."""
