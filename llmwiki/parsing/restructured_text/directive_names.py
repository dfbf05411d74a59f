"""The names of directives of docutils, of Sphinx and of its wide-spread extensions."""

DROPPED = frozenset(
    {
        "contents", "currentmodule", "date", "default-domain", "default-role", "footer", "header",
        "highlight", "include", "index", "literalinclude", "meta", "raw", "role", "sectnum",
        "section-numbering", "tabularcolumns", "target-notes", "testcleanup", "testsetup",
        "title", "toctree",
    }
)  # fmt: skip
"""They steer the rendering, or would bring in text that is not in the file."""

WRAPPERS = frozenset(
    {
        "compound", "container", "cssclass", "div", "epigraph", "glossary", "grid", "highlights",
        "hlist", "ifconfig", "line-block", "only", "pull-quote", "rst-class", "tab-set", "tabs",
    }
)  # fmt: skip
"""Only their content is for readers; their argument is for the renderer."""

ADMONITIONS = {
    "attention": "Attention",
    "caution": "Caution",
    "danger": "Danger",
    "error": "Error",
    "hint": "Hint",
    "important": "Important",
    "note": "Note",
    "seealso": "See also",
    "tip": "Tip",
    "todo": "Todo",
    "warning": "Warning",
}
VERSION_CHANGES = {
    "deprecated": "Deprecated since version",
    "deprecated-removed": "Deprecated since version",
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
}
LANGUAGE_BY_ARGUMENT = frozenset(
    {"code", "code-block", "code-cell", "jupyter-execute", "prompt", "sourcecode"}
)
LANGUAGE_BY_NAME = {
    "digraph": "dot",
    "doctest": "pycon",
    "graph": "dot",
    "graphviz": "dot",
    "ipython": "ipython",
    "math": "math",
    "mermaid": "mermaid",
    "parsed-literal": "",
    "plantuml": "plantuml",
    "productionlist": "",
    "testcode": "python",
    "testoutput": "",
    "uml": "plantuml",
}
OBJECTS = frozenset(
    {
        "attribute", "class", "classmethod", "cmdoption", "confval", "data", "decorator",
        "decoratormethod", "describe", "envvar", "exception", "function", "macro", "member",
        "method", "module", "object", "option", "program", "property", "setting",
        "staticmethod", "struct", "type", "variable",
    }
)  # fmt: skip
"""Descriptions of objects: a line of the argument is a signature."""

PICTURES = frozenset({"figure", "image"})
CODE_BESIDE_MARKER = frozenset({"math", "parsed-literal", "productionlist"})
