"""Evidence families: a composite question needs a witness from each of several sources."""
