from datetime import UTC

from llmwiki.providers.clock import SystemClock


def test_the_time_is_aware_and_in_utc() -> None:
    assert SystemClock().now().tzinfo is UTC


def test_monotonic_time_does_not_run_backwards() -> None:
    clock = SystemClock()

    before = clock.monotonic()
    clock.sleep(-1.0)

    assert clock.monotonic() >= before
