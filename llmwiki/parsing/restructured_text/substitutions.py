"""Substitutions of reStructuredText, each expanded once however often and deeply it is used."""

from docutils import nodes

from llmwiki.parsing.restructured_text.rendering import inline_text

_LONGEST_EXPANSION = 10_000
"""Characters; definitions that use each other could double at every step."""


def expand_substitutions(document: nodes.document) -> None:
    """Put the text of its definition in the place of each reference.

    A definition that is not in the document is in Sphinx's configuration, as for ``|version|``:
    the reference stays as it is written.
    """
    expansion = _Expansion(document)
    references = document.findall(nodes.substitution_reference)
    # All of a parent at once, as each replacement by itself looks through all of its children.
    for parent in {id(reference.parent): reference.parent for reference in references}.values():
        if not isinstance(parent, nodes.substitution_definition):
            parent[:] = [
                nodes.Text(expansion.text_of(child))
                if isinstance(child, nodes.substitution_reference)
                else child
                for child in parent.children
            ]


class _Expansion:
    def __init__(self, document: nodes.document) -> None:
        self._definitions = document.substitution_defs
        self._keys = document.substitution_names
        self._texts: dict[str, str] = {}
        self._open: set[str] = set()

    def text_of(self, reference: nodes.substitution_reference) -> str:
        """Return the text that a reference stands for, or itself where that goes in circles."""
        name = reference["refname"]
        key = name if name in self._definitions else self._keys.get(name.lower())
        if key is None or key in self._open:
            return f"|{name}|"
        if key not in self._texts:
            self._open.add(key)
            self._texts[key] = self._expand(self._definitions[key])
            self._open.remove(key)
        return self._texts[key]

    def _expand(self, definition: nodes.substitution_definition) -> str:
        expanded = definition.deepcopy()
        for nested in list(expanded.findall(nodes.substitution_reference)):
            nested.replace_self(nodes.Text(self.text_of(nested)))
        text = inline_text(expanded)
        return text if len(text) <= _LONGEST_EXPANSION else inline_text(definition)
