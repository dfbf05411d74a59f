from hypothesis import given
from hypothesis import strategies as st

from llmwiki.domain import ChunkId
from llmwiki.overview.grouping import Element, group

LIMIT = 1000


def element(name: str, tokens: int) -> Element:
    return Element(name=name, title=name, tokens=tokens, chunk_ids=(ChunkId(len(name)),))


elements = st.lists(
    st.builds(element, st.text(min_size=1, max_size=8), st.integers(1, 400)), max_size=60
)


@given(elements)
def test_groups_keep_the_order_and_lose_nothing(given_elements: list[Element]) -> None:
    groups = group(given_elements, LIMIT)
    assert [member for members in groups for member in members] == given_elements


@given(elements)
def test_no_group_of_several_exceeds_the_limit(given_elements: list[Element]) -> None:
    for members in group(given_elements, LIMIT):
        assert len(members) == 1 or sum(member.tokens for member in members) <= LIMIT


def test_an_insertion_disturbs_few_groups() -> None:
    sections = [element(f"section {number}", 120) for number in range(400)]
    before = group(sections, LIMIT)
    disturbed = []
    for place in range(0, 400, 7):
        edited = [*sections[:place], element("inserted", 120), *sections[place:]]
        after = group(edited, LIMIT)
        disturbed.append(sum(members not in before for members in after))
    # Counting from the start would disturb half of the groups on average.
    assert sum(disturbed) / len(disturbed) < 4 < len(before) / 10
