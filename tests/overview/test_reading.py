import pytest

from llmwiki.errors import UnknownNameError
from llmwiki.overview.reading import get_overview
from llmwiki.store.contents import Coverage
from tests.support.wiki import Wiki, prose

FILES = {f"{name}.md": f"# {name.title()}\n\n{prose(name)}\n" for name in ("gear", "pump", "valve")}


def test_an_overview_lists_every_topic_and_tells_what_is_compiled_and_stale(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    (before,) = get_overview(wiki.engine, ["system"])
    assert before.coverage == Coverage(topics=3, compiled=0, stale=0, never_compiled=3)
    wiki.night()
    wiki.ingest(FILES | {"gear.md": FILES["gear.md"] + "\nOne more sentence.\n"})
    wiki.sweep()
    (after,) = get_overview(wiki.engine, ["system", "nobody"])
    assert after.coverage == Coverage(topics=3, compiled=3, stale=1, never_compiled=0)
    assert [line for line in after.page.body.splitlines() if line] == [
        "- [[gear|Gear]]",
        "- [[pump|Pump]]",
        "- [[valve|Valve]]",
    ]


def test_an_owner_sees_only_what_is_theirs(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    with pytest.raises(UnknownNameError, match="of owner alice; known: none of theirs"):
        get_overview(wiki.engine, ["alice"])
