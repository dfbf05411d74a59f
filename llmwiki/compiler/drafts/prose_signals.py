"""Signs by which a sentence of documentation shows what it is good for.

The words are English, which is what most documentation is written in; a sentence in another
language shows none of the signs and is judged by its place and its content alone.
"""

import re

from llmwiki.text.tokens import count_tokens

_CLOSING = " \t\n\"'*)]\u00bb\u201d\u2019\u300d\u300f\u3011\uff09"
_COLONS = (":", "\uff1a")
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_ENDS = (
    *_COLONS,
    *_QUESTION_MARKS,
    *".!;\u2026\u3002\uff01\uff61\u06d4\u0964\u0965\u1362\u17d4\u104b\u0589",
)

_THINGS = (
    r"(?:page|document|documentation|doc|guide|section|tutorial|chapter|article|post|blog|topic|"
    r"how-to|quickstart|example|series|repository|specification)"
)
_CONTINUATION = re.compile(
    rf"(?!this\s+(?:\w+\s+)?{_THINGS}\b)"
    r"(?!it(?:'s|\u2019s|\s+is)\s+(?:also\s+|strongly\s+|highly\s+)?"
    r"(?:recommended|possible|important|necessary|assumed|advised)\b)"
    r"(?:this|that|that's|these|those|it|it's|its|they|them|their|he|she|his|her|however|but|and|"
    r"or|so|then|thus|therefore|hence|also|additionally|furthermore|moreover|instead|otherwise|"
    r"similarly|likewise|finally|next|afterwards|after that|in (?:this|that|such|both|these|"
    r"those) (?:case|cases|way|example|examples|configuration|scenario)|in addition|"
    r"in other words|for example|for instance|for this|to do (?:this|that|so)|as a result|"
    r"as (?:such|you can see|mentioned|shown|above)|such|here|here's|both|either|again|besides|"
    r"meanwhile|nevertheless|still|yet|now|because of (?:this|that)|with (?:this|that|these)|"
    r"the (?:former|latter|same|above|previous|other|second|third|result|output)|another|"
    r"by doing|(?:with|using|as|given) the above|all (?:this|that|these|those)|"
    r"if (?:so|not|it|they|this|that)|when it|once it|after it|ok|okay|yes|no|"
    r"\u2019s|second|secondly|third|thirdly|lastly|first)\b",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"(?!(?:there|here|this|that|these|those|it|what|we|you|i|if|when|in|on|to|for|as)\b)"
    r"[^.,;:!?]{1,70}?(?:\s\([^()]{1,120}\))?(?:,[^,.]{1,60},)?\s"
    r"(?:(?:is|are)\s+(?:an?|the|one|any|used|designed|responsible|where|how|what|not)\b"
    r"|are\s+(?:[\w-]+\s+){1,3}(?:that|which|who|for|of)\b"
    r"|(?:provides?|lets?|allows?|enables?|defines?|describes?|represents?|specifies|specify|"
    r"refers?|means|stands?|consists?|contains?|controls?|supports?|determines?|collects?|"
    r"implements?|offers?|helps?|makes?|indicates?|returns?|sets?)\s)",
    re.IGNORECASE,
)
_BOILERPLATE = re.compile(
    rf"(?:(?:in|throughout)\s+(?:this|the next|the following|our)\s+(?:\w+\s+)?{_THINGS}s?\b"
    rf"|(?:this|the following)\s+(?:\w+\s+)?{_THINGS}s?\s+(?:\w+\s+)?"
    r"(?:describes?|explains?|shows?|provides?|covers?|lists?|contains?|walks?|outlines?|is|are|"
    r"will|discuss|discusses|introduces?|demonstrates?|assumes?|applies|gives?|presents?)\b"
    r"|welcome\b|we'll|we\u2019ll|we will|we are (?:excited|happy|pleased|thrilled)"
    r"|let's|let\u2019s|let us"
    r"|you'll (?:learn|see)|you will (?:learn|see)|you can (?:read|find|learn) more"
    r"|(?:you|we)(?:'ve|\u2019ve| have| now have)? (?:already )?(?:saw|see|seen|learned|learnt)\b"
    r"|i\b|i'm|i've|in summary|to summari[sz]e|note that|please note|as (?:mentioned|you)"
    r"|thanks?\b|thank you|have fun|enjoy|congratulations|hello|hi\b|happy\b|stay tuned)",
    re.IGNORECASE,
)
_NAVIGATION = re.compile(
    r"(?:(?:for|to)\s+(?:more|further|additional|a (?:complete|full|list)|learn|details?|the full)"
    r"[^.]{0,80}?\b(?:see|refer|check|read|visit|head|consult|about)\b"
    r"|for (?:more )?(?:details?|information)|to learn (?:more|about|how)|learn more"
    r"|see\b(?!\s+that)|read (?:more|the|about)|refer to|check (?:out|the|that out)|have a look"
    r"|take a look|click here|edit this|back to|previous\b|next:|last (?:modified|updated|reviewed)"
    r"|copyright\b|\u00a9|skip to|table of contents|on this page|you can (?:read|find|see) more"
    r"|find out more|to know more|get in touch|reach out"
    r"|more (?:information|details)|feel free|join\b|follow us|subscribe|share\b"
    r"|go to the (?:next|previous)|continue (?:to|with|reading)|sign up|screen ?(?:shot|capture))",
    re.IGNORECASE,
)
_NAVIGATION_HEADING = re.compile(
    r"\W*(?:see also|next steps?|what'?s next|what\u2019s next|where to (?:go )?next|related\b.*"
    r"|further reading|learn more|more (?:info|information|resources)|additional resources"
    r"|references?|resources|links|useful links|external links|table of contents|contents|toc"
    r"|recap|summary|conclusions?|acknowledge?ments?|credits|contributors?|contributing|feedback"
    r"|feature requests and bug reports|get(?:ting)? (?:help|involved|support)|footnotes?"
    r"|sponsors?|thanks|help|changelog|license|about the authors?|navigation)\W*",
    re.IGNORECASE,
)
_CHATTY = re.compile(
    r"!(?:\s|\Z)|\b(?:let's|let\u2019s|we'll|we\u2019ll|just|simply|of course|actually|really|cool|"
    r"awesome|great|wow|don't worry|don\u2019t worry|probably|i'm|i\u2019m|i've|i\u2019ve|i'd|"
    r"remember|notice|imagine|excited|thrilled|easy|nice)\b|(?-i:\bI\b)|[\U0001f300-\U0001faff]",
    re.IGNORECASE,
)
_JOINING = ("...", "\u2026")
_LABEL_CHARACTERS = 60
_LABEL_WORDS = 3
_LONGEST_WORD = 100


def opens(text: str) -> bool:
    """Tell whether the text ends with a colon: it announces what follows."""
    return text.rstrip().endswith(_COLONS)


def is_terminated(text: str) -> bool:
    """Tell whether the text ends as a sentence does."""
    return text.rstrip(_CLOSING).endswith(_ENDS)


def is_fragment(text: str) -> bool:
    """Tell whether the text is a caption or the like: it ends without a mark, or is one word."""
    return not is_terminated(text) or count_tokens(text) < 4


def is_garbled(text: str) -> bool:
    """Tell whether the text has what no reader reads: data, a tag, a part of an address.

    A long word of a script without blanks is a sentence, and no such thing.
    """
    return text.startswith("<") or any(
        len(word) > _LONGEST_WORD and "://" not in word and word.isascii() for word in text.split()
    )


def is_informative(text: str) -> bool:
    """Tell whether the text is a sentence with something to say, which not all of them are."""
    return not (is_fragment(text) or is_navigation(text) or is_garbled(text))


def is_label(text: str) -> bool:
    """Tell whether the text can be the caption of a block below it."""
    return len(text) <= _LABEL_CHARACTERS and not is_terminated(text)


def announces_paragraph(text: str) -> bool:
    """Tell whether an opener such as "Note:" can stand above a paragraph.

    A longer one announces a list, code or a picture; when a paragraph follows it instead, what
    it announces was lost when the document was parsed.
    """
    return len(text.split()) <= _LABEL_WORDS


def continues(text: str) -> bool:
    """Tell whether the sentence leans on the one before it."""
    return text.startswith(_JOINING) or text[:1].islower() or _CONTINUATION.match(text) is not None


def is_definition(text: str) -> bool:
    """Tell whether the sentence says what something is or does."""
    return _DEFINITION.match(text) is not None


def is_question(text: str) -> bool:
    """Tell whether the sentence asks."""
    return text.rstrip(_CLOSING).endswith(_QUESTION_MARKS)


def is_boilerplate(text: str) -> bool:
    """Tell whether the sentence speaks of the document or greets its reader."""
    return _BOILERPLATE.match(text) is not None


def is_navigation(text: str) -> bool:
    """Tell whether the sentence sends the reader elsewhere."""
    return _NAVIGATION.match(text) is not None


def is_navigation_heading(heading: str) -> bool:
    """Tell whether a section is there to send its reader elsewhere."""
    return _NAVIGATION_HEADING.fullmatch(heading) is not None


def is_chatty(text: str) -> bool:
    """Tell whether the sentence is there for its tone."""
    return _CHATTY.search(text) is not None
