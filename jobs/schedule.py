"""When the night begins: a crontab line as cron reads it, with its next and its last time.

APScheduler reads crontab fields in its own way: the weekday 0 is Monday, and a day of the month
beside a weekday means both instead of either. Here 0 is Sunday, and the two together are refused.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apscheduler.triggers.cron import CronTrigger

from llmwiki.errors import ConfigurationError

WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
FIELDS = ("minute", "hour", "day", "month", "day_of_week")

_LOOK_BACK = (timedelta(hours=1), timedelta(days=1), timedelta(days=32), timedelta(days=367))
_HOURS_OF_CHANGE = frozenset(range(4))
"""Clocks are put forward and back in these hours almost everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When the nightly job runs."""

    expression: str
    zone: ZoneInfo
    trigger: CronTrigger
    warning: str | None
    """What daylight saving time does to it."""

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first fire time at or after the moment."""
        fire_time: datetime | None = self.trigger.get_next_fire_time(None, moment)
        return fire_time

    def last_before(self, moment: datetime) -> datetime | None:
        """Return the last fire time at or before the moment, None in a year without one."""
        for span in _LOOK_BACK:
            times = list(self._between(moment - span, moment))
            if times:
                return times[-1]
        return None

    def _between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        fire_time = self.trigger.get_next_fire_time(None, start)
        while fire_time is not None and fire_time <= end:
            yield fire_time
            fire_time = self.trigger.get_next_fire_time(fire_time, fire_time)


def parse_schedule(expression: str, time_zone: str) -> Schedule:
    """Read a crontab expression of five fields.

    Raises ConfigurationError for what cron and APScheduler would not take the same way.
    """
    zone = _zone(time_zone)
    fields = expression.split()
    if len(fields) != len(FIELDS):
        raise ConfigurationError(
            f"schedule.nightly is {expression!r}; it needs five fields: minute, hour, day of the "
            "month, month, weekday, as `0 2 * * *`"
        )
    named = dict(zip(FIELDS, fields, strict=True))
    if named["day"] != "*" and named["day_of_week"] != "*":
        raise ConfigurationError(
            f"schedule.nightly is {expression!r}, with a day of the month and a weekday: cron runs "
            "on either, other schedulers on both; set one of the two to *"
        )
    named["day_of_week"] = _weekdays(named["day_of_week"])
    try:
        trigger = CronTrigger(**named, timezone=zone)
        hours = _expand(named["hour"], 0, 23, {})
    except ValueError as error:
        raise ConfigurationError(f"schedule.nightly is {expression!r}: {error}") from error
    if trigger.get_next_fire_time(None, datetime.now(UTC)) is None:
        raise ConfigurationError(f"schedule.nightly is {expression!r}, a day that never comes")
    return Schedule(
        expression=expression,
        zone=zone,
        trigger=trigger,
        warning=_clock_change_warning(expression, hours, zone),
    )


def is_missed(scheduled: datetime | None, last_night: datetime | None) -> bool:
    """Tell whether the scheduled night did not take place, given when the last one began."""
    return scheduled is not None and (last_night is None or last_night < scheduled)


def changes_clocks(zone: ZoneInfo, today: datetime) -> bool:
    """Tell whether the zone's offset from UTC changes within a year from today."""
    offsets = {
        zone.utcoffset((today + timedelta(days=7 * week)).replace(tzinfo=zone))
        for week in range(53)
    }
    return len(offsets) > 1


def _clock_change_warning(expression: str, hours: set[int], zone: ZoneInfo) -> str | None:
    risky = sorted(hours & _HOURS_OF_CHANGE)
    if not risky or not changes_clocks(zone, datetime.now(UTC)):
        return None
    return (
        f"`{expression}` fires between 00:00 and 03:59 in {zone.key}, which changes its clocks: "
        "one night a year can be skipped and another run twice; use UTC, or a later hour"
    )


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ConfigurationError(
            f"schedule.time_zone: no time zone is named {name!r}; use one like UTC"
        ) from error


def _weekdays(text: str) -> str:
    """Return the field in names, which mean the same everywhere."""
    if text == "*":
        return text
    names = {name: number for number, name in enumerate(WEEKDAYS)}
    try:
        # 7 is Sunday as well.
        days = {number % 7 for number in _expand(text.lower(), 0, 7, names)}
    except ValueError as error:
        raise ConfigurationError(f"schedule.nightly: weekday {text!r}: {error}") from error
    return ",".join(WEEKDAYS[day] for day in sorted(days))


def _expand(text: str, lowest: int, highest: int, names: Mapping[str, int]) -> set[int]:
    """Return the numbers that a crontab field stands for. Raises ValueError."""
    numbers: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        if span == "*":
            start, end = lowest, highest
        else:
            start = _number(first, names)
            end = _number(last, names) if dash else (highest if step else start)
        if dash and end < start and end == 0 and names:
            end = highest  # sat-sun, where Sunday is the last day
        if not lowest <= start <= end <= highest:
            message = f"{part!r} is not within {lowest} to {highest}"
            raise ValueError(message)
        numbers.update(range(start, end + 1, int(step) if step else 1))
    return numbers


def _number(word: str, names: Mapping[str, int]) -> int:
    return names[word] if word in names else int(word)
