"""From a topic's chunks to a page: generate, check, render, write, within the budget."""
