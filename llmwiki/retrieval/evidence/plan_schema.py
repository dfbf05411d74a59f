"""The form of a plan file. Closed: a misspelt key is an error and not a condition left out."""

from collections.abc import Callable, Sequence
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from llmwiki.retrieval.evidence.authority import read_constraint
from llmwiki.retrieval.evidence.patterns import read_expression, read_glob, read_phrase


def _checked(read: Callable[[str], object]) -> AfterValidator:
    def check(text: str) -> str:
        read(text)
        return text

    return AfterValidator(check)


def _as_list(value: object) -> object:
    return value if isinstance(value, list) or value is None else [value]


_Name = Annotated[
    str, StringConstraints(min_length=1, max_length=80, pattern=r"^[^\s\pC](?:[^\pC]*[^\s\pC])?$")
]
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
_Few = Field(min_length=1, max_length=100)


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ExpressionForm(_Form):
    """A regular expression where a plain text would not do."""

    regex: Annotated[str, _checked(read_expression)]


def _form_of(value: object) -> str:
    return "expression" if isinstance(value, dict | ExpressionForm) else "plain"


# With the branch chosen first, an error is that of the one form that was meant.
_Expression = Annotated[ExpressionForm, Tag("expression")]
_Phrase = Annotated[
    Annotated[str, _checked(read_phrase), Tag("plain")] | _Expression, Discriminator(_form_of)
]
_Glob = Annotated[
    Annotated[str, _checked(read_glob), Tag("plain")] | _Expression, Discriminator(_form_of)
]
_Phrases = Annotated[tuple[_Phrase, ...], BeforeValidator(_as_list), _Few]
_Globs = Annotated[tuple[_Glob, ...], BeforeValidator(_as_list), _Few]
_Values = Annotated[tuple[_Text, ...], BeforeValidator(_as_list), _Few]


class MatchForm(_Form):
    """What makes a chunk a member of the family."""

    source: _Globs = ()
    heading: _Phrases = ()
    evidence_family: _Values = ()
    attributes: Annotated[dict[str, _Values], _Few] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _some_condition(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(
                "the match is empty, so the family would hold everything; give `source`, "
                "`heading`, `evidence_family` or `attributes`"
            )
        return self


class FamilyForm(_Form):
    """One family."""

    name: _Name
    match: MatchForm
    rescue: _Text | None = None
    authority: _Name | None = None
    version: Annotated[str, _checked(read_constraint)] | None = None
    min: int = Field(1, ge=1, le=10)
    required: bool = True


class PlanForm(_Form):
    """One file."""

    name: _Name
    when: Annotated[tuple[_Phrases, ...], Field(min_length=1, max_length=20)]
    families: Annotated[tuple[FamilyForm, ...], Field(min_length=1, max_length=20)]

    @model_validator(mode="after")
    def _different_families(self) -> Self:
        names = [family.name.casefold() for family in self.families]
        if twice := _repeated(names):
            message = f"two families are named {twice!r}"
            raise ValueError(message)
        return self


def _repeated(names: Sequence[str]) -> str | None:
    return next((name for place, name in enumerate(names) if name in names[:place]), None)
