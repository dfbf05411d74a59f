"""Pure functions over text: normal forms, hashes, token counts, identifiers, slugs."""
