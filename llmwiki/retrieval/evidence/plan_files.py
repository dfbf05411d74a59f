"""Reads the folder of plans. A file that is wrong is told with its line; the others stand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from llmwiki.config import config_file
from llmwiki.errors import ConfigurationError
from llmwiki.retrieval.evidence.authority import read_constraint
from llmwiki.retrieval.evidence.patterns import (
    Expression,
    Glob,
    Phrase,
    read_expression,
    read_glob,
    read_phrase,
)
from llmwiki.retrieval.evidence.plan_schema import ExpressionForm, FamilyForm, MatchForm, PlanForm
from llmwiki.retrieval.evidence.plan_yaml import (
    PlanFileError,
    PlanProblem,
    Written,
    read_yaml,
)
from llmwiki.retrieval.evidence.plans import (
    DEFAULT_TIERS,
    FamilyMatch,
    Place,
    Plan,
    PlannedFamily,
    TermGroup,
)

MOST_FILES = 500

_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLibrary:
    """The plans that can be used, and what is wrong with the others."""

    plans: tuple[Plan, ...] = ()
    problems: tuple[PlanProblem, ...] = ()
    tiers: tuple[str, ...] = DEFAULT_TIERS
    """Tiers of authority, the highest first."""

    def require_sound(self) -> None:
        """Raise ConfigurationError that lists every problem, where there is one."""
        if self.problems:
            listed = "; ".join(map(str, self.problems))
            raise ConfigurationError(f"{listed}; see `llmwiki plans lint`")


def plans_folder(configured: Path) -> Path:
    """Return the folder of plans: a relative one stands beside the configuration file."""
    return config_file().parent / configured


def load_plans(folder: Path, tiers: Sequence[str] = DEFAULT_TIERS) -> PlanLibrary:
    """Read every plan of the folder, in the order of the files' names.

    Never raises for what the folder holds: it is told under ``problems``. A folder that does not
    exist has no plans.
    """
    plans: list[Plan] = []
    problems: list[PlanProblem] = []
    for file in _plan_files(folder, problems):
        # A name that is not UTF-8 could not be printed.
        name = f"{folder.name}/{file.name}".encode(errors="replace").decode()
        for read in read_plans(file, name, tiers):
            if isinstance(read, Plan):
                plans.append(read)
            else:
                problems.append(read)
    plans, repeated = _without_repeated(plans)
    return PlanLibrary(plans=tuple(plans), problems=(*problems, *repeated), tiers=tuple(tiers))


def read_plans(
    file: Path, name: str, tiers: Sequence[str] = DEFAULT_TIERS
) -> Iterator[Plan | PlanProblem]:
    """Yield the plans of one file, or what is wrong; ``name`` is how its places call it.

    A file may hold several plans, with a line ``---`` between them.
    """
    try:
        documents = read_yaml(file, name)
    except PlanFileError as error:
        yield error.problem
        return
    for written in documents:
        yield from _read_plan(written, tiers)


def _read_plan(written: Written, tiers: Sequence[str]) -> Iterator[Plan | PlanProblem]:
    if not isinstance(written.values, dict):
        message = "a plan is a mapping with `name`, `when` and `families`"
        yield PlanProblem(written.place(()), message)
        return
    try:
        form = PlanForm.model_validate(written.values)
    except ValidationError as error:
        yield from _described(error, written)
        return
    unknown = tuple(_unknown_tiers(form, written, tiers))
    yield from unknown
    if not unknown:
        yield _plan(form, written)


def _plan_files(folder: Path, problems: list[PlanProblem]) -> list[Path]:
    try:
        files = sorted(
            file
            for file in folder.iterdir()
            if file.suffix in _SUFFIXES and not file.name.startswith(".")
        )
    except FileNotFoundError:
        return []
    except OSError as error:
        message = f"the folder of plans cannot be read: {error.strerror}"
        problems.append(PlanProblem(Place(str(folder), 1), message))
        return []
    if len(files) > MOST_FILES:
        message = f"{len(files)} plans; {MOST_FILES} at most are read"
        problems.append(PlanProblem(Place(str(folder), 1), message))
    return files[:MOST_FILES]


def _described(error: ValidationError, written: Written) -> Iterator[PlanProblem]:
    for problem in error.errors(include_url=False):
        if problem["type"] == "too_short" and problem["input"]:
            continue  # it has items; what is wrong with them is told by itself
        known = _known_part(problem["loc"], written.values)
        named = ".".join(map(str, known))
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            named, message = ".".join(map(str, known[:-1])), f"unknown key `{known[-1]}`"
        elif problem["type"] == "missing":
            message = f"the key `{problem['loc'][-1]}` is missing"
        yield PlanProblem(written.place(known), f"{named}: {message}" if named else message)


def _known_part(location: Sequence[str | int], values: Any) -> tuple[str | int, ...]:  # noqa: ANN401
    """Leave out of a location what pydantic adds: the names of a union's branches."""
    known: list[str | int] = []
    for step in location:
        if isinstance(values, Mapping) and step in values:
            values = values[str(step)]
        elif isinstance(values, list) and isinstance(step, int) and step < len(values):
            values = values[step]
        else:
            continue
        known.append(step)
    return tuple(known)


def _unknown_tiers(form: PlanForm, written: Written, tiers: Sequence[str]) -> Iterator[PlanProblem]:
    for number, family in enumerate(form.families):
        if family.authority is not None and family.authority not in tiers:
            yield PlanProblem(
                written.place(("families", number, "authority")),
                f"no tier of authority is named {family.authority!r}; known, the highest first: "
                f"{', '.join(tiers)} (set in retrieval.authority_tiers)",
            )


def _without_repeated(plans: Sequence[Plan]) -> tuple[list[Plan], list[PlanProblem]]:
    first: dict[str, Plan] = {}
    problems = []
    for plan in plans:
        known = first.setdefault(plan.name.casefold(), plan)
        if known is not plan:
            message = f"a plan named {plan.name!r} stands in {known.place.file} already"
            problems.append(PlanProblem(plan.place, message))
    return list(first.values()), problems


def _plan(form: PlanForm, written: Written) -> Plan:
    return Plan(
        name=form.name,
        when=tuple(
            TermGroup(
                alternatives=tuple(map(_text_pattern, group)),
                place=written.place(("when", number)),
            )
            for number, group in enumerate(form.when)
        ),
        families=tuple(
            _family(family, form.name, written.place(("families", number)))
            for number, family in enumerate(form.families)
        ),
        place=written.place(("name",)),
    )


def _family(form: FamilyForm, plan: str, place: Place) -> PlannedFamily:
    return PlannedFamily(
        name=form.name,
        plan=plan,
        match=_match(form.match),
        rescue=form.rescue,
        authority=form.authority,
        version=None if form.version is None else read_constraint(form.version),
        min=form.min,
        required=form.required,
        place=place,
    )


def _match(form: MatchForm) -> FamilyMatch:
    return FamilyMatch(
        source=tuple(map(_path_pattern, form.source)),
        heading=tuple(map(_text_pattern, form.heading)),
        evidence_family=form.evidence_family,
        attributes=form.attributes,
    )


def _text_pattern(form: str | ExpressionForm) -> Phrase | Expression:
    return read_phrase(form) if isinstance(form, str) else read_expression(form.regex)


def _path_pattern(form: str | ExpressionForm) -> Glob | Expression:
    return read_glob(form) if isinstance(form, str) else read_expression(form.regex)
