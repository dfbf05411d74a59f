"""From a topic's passages to a page: generate, check, render, write, within the budget."""
