"""Decides by brute force what a night must do: two trees, compared by nothing but their texts.

It knows no rows, no ids and no hashes. It remembers what each page's topic said yesterday and
what the page was compiled from, looks at the topics of today's tree, and judges two things that
the database claims: which page goes on as which topic, and which pages need a compile, and why.

For the first there is no single right answer (a topic divided in halves may go on as either),
so it does not compute one: it checks that no page and topic that belong together were kept
apart. For the second there is one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from tests.replay.trees import TopicText

NEVER_COMPILED = frozenset({"never-compiled"})


@dataclass(slots=True, kw_only=True)
class KnownPage:
    """A page that the oracle has seen: what its topic said last, and what it was made from."""

    topic: TopicText
    compiled: TopicText | None = None
    retired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the oracle found of one night."""

    marked: frozenset[str]
    """Pages that need a compile: those with text that is out of date, and new ones."""
    new: frozenset[str]
    retired: frozenset[str]
    open_choices: int
    """Pages that might as well have gone on as another topic: with as much in common, or with
    little, or with one that has a page of its own under the address of its place."""
    needless: int
    """Topics that need a compile although some page says just that: the identities cost it."""
    kept_apart: tuple[str, ...]
    """Pages that by their texts belong with another topic than they were given. It costs no
    compile where ``needless`` is 0: files that swapped their names and were edited as well, or
    the pieces of a table whose rows shifted, look like edits in place."""
    faults: tuple[str, ...]


@dataclass(slots=True)
class Oracle:
    """Follows a history night by night."""

    pages: dict[str, KnownPage] = field(default_factory=dict)
    """By slug."""

    def judge(
        self,
        today: Sequence[TopicText],
        slugs: Sequence[str],
        reasons: Mapping[str, AbstractSet[str]],
    ) -> Judgement:
        """Judge the claims that topic number i has page ``slugs[i]``, stale for ``reasons``."""
        claimed = dict(zip(slugs, today, strict=True))
        live = {slug for slug, page in self.pages.items() if not page.retired}
        ties = _ties(self._recognisable(claimed), today)
        apart = list(_kept_apart(ties, slugs))
        kept_apart = [
            f"{slug}: shares {tie.shared} chunks with {slugs[number]} and was kept from it"
            for slug, number, tie in apart
            if tie.binding and not self._begins_in_place(slugs[number], today[number])
        ]
        marked = {slug for slug, topic in claimed.items() if self._needs_compile(slug, topic)}
        return Judgement(
            marked=frozenset(marked),
            new=frozenset(claimed.keys() - self.pages.keys()),
            retired=frozenset(live - claimed.keys()),
            open_choices=_equals(ties, slugs) + len(apart) - len(kept_apart),
            needless=self._needless(today, marked),
            kept_apart=tuple(kept_apart),
            faults=tuple(self._wrong_reasons(claimed, reasons)),
        )

    def go_on(self, today: Sequence[TopicText], slugs: Sequence[str]) -> None:
        """Take over the identities that were judged."""
        for page in self.pages.values():
            page.retired = True
        for slug, topic in zip(slugs, today, strict=True):
            page = self.pages.setdefault(slug, KnownPage(topic=topic))
            page.topic, page.retired = topic, False

    def compiled(self, slugs: AbstractSet[str]) -> None:
        """Note that these pages were written from what their topics say now."""
        for slug in slugs:
            self.pages[slug].compiled = self.pages[slug].topic

    def _begins_in_place(self, slug: str, topic: TopicText) -> bool:
        """Tell whether a topic has a new page where one looks for it: documents were merged."""
        return slug not in self.pages and slug == topic.place

    def _recognisable(self, claimed: Mapping[str, TopicText]) -> dict[str, KnownPage]:
        """Return the pages that today's topics may go on from: live ones, and namesakes."""
        places = {topic.place for topic in claimed.values()}
        return {
            slug: page for slug, page in self.pages.items() if not page.retired or slug in places
        }

    def _needs_compile(self, slug: str, topic: TopicText) -> bool:
        page = self.pages.get(slug)
        return page is None or page.compiled is None or page.compiled.content != topic.content

    def _wrong_reasons(
        self, claimed: Mapping[str, TopicText], reasons: Mapping[str, AbstractSet[str]]
    ) -> Iterator[str]:
        for slug, topic in claimed.items():
            page = self.pages.get(slug)
            compiled = page.compiled if page else None
            given = reasons.get(slug, frozenset())
            if not _explains(given, compiled, topic):
                yield f"{slug}: the reasons {sorted(given)} do not explain {_loss(compiled, topic)}"
        for slug in reasons.keys() - claimed.keys():
            yield f"{slug}: stale, but no topic of today has this page"

    def _needless(self, today: Sequence[TopicText], marked: AbstractSet[str]) -> int:
        """Count compiles that the best choice of identities would have spared."""
        written = Counter(page.compiled.content for page in self.pages.values() if page.compiled)
        needed = Counter(topic.content for topic in today) - written
        return len(marked) - needed.total()


def _explains(given: AbstractSet[str], compiled: TopicText | None, topic: TopicText) -> bool:
    """Tell whether the reasons are what the difference between two bags of chunks can mean."""
    if compiled is None:
        return given == NEVER_COMPILED
    if compiled.content == topic.content:
        return not given
    lost = (compiled.bag - topic.bag).total()
    gained = (topic.bag - compiled.bag).total()
    if not given or not given <= {"content", "added", "removed"}:
        return False
    if not lost or not gained:
        # Nothing can have been edited, so that "content" can only stand for the title.
        retitled = compiled.title != topic.title
        return given == _named(content=retitled, added=gained > 0, removed=lost > 0)
    # An edit takes a chunk on each side, and what it leaves over came or went.
    return (
        (gained <= lost or "added" in given)
        and (lost <= gained or "removed" in given)
        and ("content" in given or {"added", "removed"} <= given)
    )


def _named(**reasons: bool) -> set[str]:
    return {reason for reason, holds in reasons.items() if holds}


def _loss(compiled: TopicText | None, topic: TopicText) -> str:
    if compiled is None:
        return "a page without text"
    lost, gained = compiled.bag - topic.bag, topic.bag - compiled.bag
    return (
        f"{lost.total()} chunks lost, {gained.total()} gained, "
        f"title {compiled.title!r} now {topic.title!r}"
    )


@dataclass(frozen=True, slots=True, order=True)
class Tie:
    """How well a page and a topic belong together, weakest first."""

    binding: bool
    """They share at least half of the chunks of the larger one, or they share some and
    the topic is where the page's address says."""
    in_place: bool
    shared: int


_NOTHING = Tie(False, False, -1)


def _ties(pages: Mapping[str, KnownPage], today: Sequence[TopicText]) -> dict[tuple[str, int], Tie]:
    """Return every pair of a page and a topic (by number) that have anything in common."""
    carriers = defaultdict(set)
    for number, topic in enumerate(today):
        for saying in topic.bag:
            carriers[saying].add(number)
    by_place = {topic.place: number for number, topic in enumerate(today)}
    ties: dict[tuple[str, int], Tie] = {}
    for slug, page in pages.items():
        if slug in by_place:
            ties[slug, by_place[slug]] = Tie(False, True, 0)
        if page.retired:
            continue
        near: set[int] = set().union(*(carriers.get(saying, ()) for saying in page.topic.bag))
        for number in near:
            topic = today[number]
            shared = (page.topic.bag & topic.bag).total()
            larger = max(len(page.topic.sayings), len(topic.sayings))
            in_place = topic.place == slug
            ties[slug, number] = Tie(in_place or shared * 2 >= larger, in_place, shared)
    return ties


def _kept_apart(
    ties: Mapping[tuple[str, int], Tie], slugs: Sequence[str]
) -> Iterator[tuple[str, int, Tie]]:
    """Yield the pairs that would both rather have each other than what they were given.

    A page may stay at its address whatever is written there now.
    """
    given = {slug: number for number, slug in enumerate(slugs)}
    for (slug, number), tie in ties.items():
        topic_has = ties.get((slugs[number], number), _NOTHING)
        page_has = ties.get((slug, given[slug]), _NOTHING) if slug in given else _NOTHING
        if tie > topic_has and tie > page_has and not page_has.in_place:
            yield slug, number, tie


def _equals(ties: Mapping[tuple[str, int], Tie], slugs: Sequence[str]) -> int:
    """Count pages for which another topic was as good as the one that they were given."""
    given = {slug: number for number, slug in enumerate(slugs)}
    return len(
        {
            slug
            for (slug, number), tie in ties.items()
            if slug in given and number != given[slug] and tie == ties.get((slug, given[slug]))
        }
    )
