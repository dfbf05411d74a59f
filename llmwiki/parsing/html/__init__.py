"""HTML pages, without their furniture."""
