"""What a failed answer shows signs of: each question is answered from the flat facts of it.

Services agree on little more than the status, and not on what that means, so that most signs are
words of theirs.
"""

import re
from datetime import datetime

from llmwiki.providers.error_facts import Evidence, parse_duration

LONGEST_WAIT = 120.0
"""Seconds; a service that asks for more has no calls left for this run."""

_QUOTA_CODES = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_user_quota",
        "insufficient_balance",
        "credit_balance_too_low",
        "Arrearage",
    }
)
_MONEY_GONE = re.compile(
    r"insufficient (?:quota|balance|credits?|funds)|credit balance is too low"
    r"|billing hard limit|out of credits|more credits",
    re.IGNORECASE,
)
_LONG_WINDOW = re.compile(
    r"\bper[ _-]?(?:day|week|month)\b|\b[RT]PD\b|daily|/day\b|PerDay|\bmonthly\b|FreeTierOnly",
    re.IGNORECASE,
)
_SHORT_WINDOW = re.compile(
    r"\bper[ _-]?(?:minute|min|second)\b|\b[RT]PM\b|PerMinute|/min", re.IGNORECASE
)
_RATE_LIMIT = re.compile(
    r"rate[ _-]?limit|too many requests|throttl|quota[ _]exceeded", re.IGNORECASE
)
_TOO_LONG = re.compile(
    r"context[ _]length|context (?:window|size)|maximum context|too many (?:input )?tokens"
    r"|request too large|too long|maximum (?:input )?(?:length|batch size|allowed batch)"
    r"|exceeds the (?:maximum|limit)|max_batch",
    re.IGNORECASE,
)
_UNANSWERABLE = re.compile(
    r"content[ _](?:filter|management|policy)|json_validate_failed|invalid[ _]prompt"
    r"|\bmoderation\b|\bflagged\b|\bsafety\b|data[ _]?inspection",
    re.IGNORECASE,
)
_ACCOUNT_FLAGGED = re.compile(
    r"\b(?:account|organi[sz]ation|project|key)\b.{0,40}\bflagged\b", re.IGNORECASE
)
_ABOUT_PARAMETERS = re.compile(
    r"response[_ ]format|json[_ ]?schema|structured output|guided|grammar|max_\w*tokens"
    r"|extra[_ ](?:inputs|forbidden)|unsupported|unknown|parameter|field required|\bmodel\b",
    re.IGNORECASE,
)
_KEY_REFUSED = re.compile(
    r"\b(?:invalid|incorrect|missing|expired|wrong|no) (?:api[ _-]?key|auth|credentials)\b"
    r"|\bapi[ _-]?key (?:is )?(?:not valid|not found|invalid|missing|required|expired)\b",
    re.IGNORECASE,
)
_NO_SUCH_MODEL = re.compile(
    r"model_not_found|DeploymentNotFound|no such model|unknown model|no endpoints found"
    r"|\bmodels?\b.{0,100}?\b(?:not found|(?:does|do) not exist)|not a valid model",
    re.IGNORECASE,
)


def delay_of_limit(evidence: Evidence, now: datetime) -> float | None:
    """Return the seconds until a limit lets requests pass again, where the answer tells."""
    delay = evidence.delay(now)
    if delay is None and _remaining_requests(evidence) == "0":
        return parse_duration(evidence.headers.get("x-ratelimit-reset-requests"))
    return delay


def is_limit(evidence: Evidence) -> bool:
    """Tell whether this is a 429, or a gateway's 403 or unnumbered error that means one."""
    speaks_of_limit = _RATE_LIMIT.search(evidence.text) or _SHORT_WINDOW.search(evidence.text)
    return evidence.status == 429 or (evidence.status in {None, 403} and bool(speaks_of_limit))


def is_out_of_money(evidence: Evidence) -> bool:
    """Tell whether the account has no money or paid quota left."""
    codes = evidence.values("code", "type", "status", "reason", "error")
    return bool(codes & _QUOTA_CODES) or bool(_MONEY_GONE.search(evidence.message))


def is_daily(evidence: Evidence) -> bool:
    """Tell whether a quota of a day or longer is meant, by anything said, as Gemini's quotaId."""
    return bool(_LONG_WINDOW.search(evidence.text))


def is_without_requests(evidence: Evidence) -> bool:
    """Tell whether the requests of the day are used up, by the header of those that remain.

    Groq counts it by the day, OpenAI by the minute; the time of the reset tells them apart.
    """
    if _remaining_requests(evidence) != "0" or _SHORT_WINDOW.search(evidence.text):
        return False
    reset = parse_duration(evidence.headers.get("x-ratelimit-reset-requests"))
    is_groq = any(name.startswith("x-groq") for name in evidence.headers)
    return is_groq or reset is None or reset > LONGEST_WAIT


def is_larger_than_limit(evidence: Evidence) -> bool:
    """Tell whether one request alone is above a limit per minute: it never passes by waiting."""
    return "request too large" in evidence.text.lower()


def is_payment(evidence: Evidence) -> bool:
    """Tell whether the status asks for money, or a gateway's 403 means a daily quota."""
    return evidence.status == 402 or (evidence.status == 403 and is_daily(evidence))


def is_too_long(evidence: Evidence) -> bool:
    """Tell whether the request has more text than the service or the model takes."""
    is_about_length = bool(_TOO_LONG.search(evidence.text))
    return evidence.status == 413 or (evidence.status in {400, 422} and is_about_length)


def is_unanswerable(evidence: Evidence) -> bool:
    """Tell whether the service dislikes what this request contains, not how it is made."""
    if evidence.status == 422:
        return not _ABOUT_PARAMETERS.search(evidence.text)
    is_about_content = bool(_UNANSWERABLE.search(evidence.text))
    is_about_account = bool(_ACCOUNT_FLAGGED.search(evidence.text))
    return evidence.status in {400, 403, 451} and is_about_content and not is_about_account


def is_busy(evidence: Evidence) -> bool:
    """Tell whether the request came at a bad moment."""
    return evidence.status in {408, 409, 425}


def is_key_refused(evidence: Evidence) -> bool:
    """Tell whether the key, or a proxy's password, is not accepted."""
    said = evidence.status in {400, 403} and bool(_KEY_REFUSED.search(evidence.message))
    return evidence.status in {401, 407} or said


def is_model_missing(evidence: Evidence) -> bool:
    """Tell whether the service has no model of that name."""
    return evidence.status in {400, 404} and bool(_NO_SUCH_MODEL.search(evidence.text))


def is_wrong_address(evidence: Evidence) -> bool:
    """Tell whether nothing takes such a request at this address."""
    return evidence.status in {405, 501}


def is_refusal(evidence: Evidence) -> bool:
    """Tell whether the request is wrong: its rights, address or parameters, or its content."""
    return evidence.status is not None and evidence.status < 500


def _remaining_requests(evidence: Evidence) -> str | None:
    return evidence.headers.get("x-ratelimit-remaining-requests")
