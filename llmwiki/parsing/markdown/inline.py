"""The text of inline Markdown: code keeps its backticks, links to the web their address."""

import re
from collections.abc import Sequence

from markdown_it.token import Token

_BLANKS = re.compile(r"[ \t\n]+")
_WEB = ("http://", "https://")


def render_inline(tokens: Sequence[Token]) -> str:
    """Return the tokens of one paragraph, heading or cell as one line of text."""
    parts: list[str] = []
    links: list[tuple[str, int]] = []
    for token in tokens:
        if token.type == "link_open":
            links.append((str(token.attrs.get("href", "")), len(parts)))
        elif token.type == "link_close":
            address, start = links.pop()
            parts.append(_address_suffix("".join(parts[start:]), address))
        else:
            parts.append(_render_token(token))
    return "".join(parts).strip()


def _render_token(token: Token) -> str:
    match token.type:
        case "code_inline":
            return _render_code(token)
        case "softbreak" | "hardbreak":
            return " "
        case "image":
            return render_inline(token.children or [])
        case "text":
            return _BLANKS.sub(" ", token.content)
        case _:
            # The markers of emphasis have no content; footnotes follow as paragraphs.
            return token.content


def _render_code(token: Token) -> str:
    content = token.content
    padding = " " if content.startswith("`") or content.endswith("`") else ""
    return f"{token.markup}{padding}{content}{padding}{token.markup}"


def _address_suffix(text: str, address: str) -> str:
    shown = text.strip().strip("`").rstrip("/")
    if not address.lower().startswith(_WEB) or shown == address.rstrip("/"):
        return ""
    return f" ({address})" if shown else address
