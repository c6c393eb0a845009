"""Counters in the Redis of CACHE_URL: one script counts, another gives back, and the clock is Redis' own.

A counter is a hash, ``count`` and for a lock ``until``, in milliseconds. It is gone when its window is over.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from django.conf import settings

from database.redis import InvalidReply, Unavailable, shared_redis
from identity.core import tenancy
from identity.limits.rules import SPANS, Limit, Refusal, Tally, Try

# Of each key: "limit" or "lock", how many, in how many milliseconds. Behind them the spans of locks.
_COUNT: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function read(key, field) return tonumber(redis.call('HGET', key, field) or 0) end

for i, key in ipairs(KEYS) do
    if ARGV[3 * i - 2] == 'lock' then
        local left = read(key, 'until') - now
        if left > 0 then return {i, left} end
    elseif read(key, 'count') >= tonumber(ARGV[3 * i - 1]) then
        return {i, redis.call('PTTL', key)}
    end
end

for i, key in ipairs(KEYS) do
    local count, window = redis.call('HINCRBY', key, 'count', 1), tonumber(ARGV[3 * i])
    if count == 1 then redis.call('PEXPIRE', key, window) end
    local further = count - tonumber(ARGV[3 * i - 1])
    if ARGV[3 * i - 2] == 'lock' and further >= 0 then
        local span = tonumber(ARGV[math.min(3 * #KEYS + 1 + further, #ARGV)])
        redis.call('HSET', key, 'until', string.format('%d', now + span))
        redis.call('PEXPIRE', key, span + window)
    end
end
return {0, 0}
"""
_TALLY: Final = """
local count = redis.call('HINCRBY', KEYS[1], 'count', 1)
if count == 1 then redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[1])) end
return {count, redis.call('PTTL', KEYS[1])}
"""
_READ: Final = """
local counts = {}
for i, key in ipairs(KEYS) do counts[i] = tonumber(redis.call('HGET', key, 'count') or 0) end
return counts
"""
_GIVE_BACK: Final = """
for i, key in ipairs(KEYS) do
    if ARGV[i] == 'clear' or tonumber(redis.call('HGET', key, 'count') or 0) <= 1 then
        redis.call('DEL', key)
    else
        redis.call('HINCRBY', key, 'count', -1)
        redis.call('HDEL', key, 'until')
    end
end
"""


def count(tries: Sequence[Try]) -> Refusal | None:
    """Count all of them, or none and return the first that is one too many. No transaction takes it back.

    Raises:
        Unavailable: it does not answer, or not with what the script returns.

    """
    rules = [each.rule for each in tries]
    numbers = [
        part
        for rule in rules
        for part in (
            ("limit", rule.most, 1000 * rule.seconds)
            if isinstance(rule, Limit)
            else ("lock", rule.failures, 1000 * rule.seconds)
        )
    ]
    position, left = _run(_COUNT, tries, [*numbers, *(1000 * span for span in SPANS)], many=2)
    if position > len(tries):
        raise Unavailable
    return Refusal(tries[position - 1], left // 1000 + 1) if position else None


def tally(tried: Try) -> Tally:
    """Count one more, however many there were, and return how many there are now.

    Raises:
        Unavailable: it does not answer.

    """
    count, left = _run(_TALLY, [tried], [1000 * tried.rule.seconds], many=2)
    return Tally(count, left // 1000 + 1)


def is_any_reached(tries: Sequence[Try]) -> bool:
    """Tell whether one of these limits is reached. Nothing is counted.

    Raises:
        Unavailable: it does not answer.

    """
    counts = _run(_READ, tries, [], many=len(tries))
    pairs = zip(tries, counts, strict=True)
    return any(isinstance(each.rule, Limit) and count >= each.rule.most for each, count in pairs)


def give_back(tries: Sequence[Try], *, cleared: str = "") -> None:
    """Take back what ``count`` counted; while Redis is away it stays counted."""
    with suppress(Unavailable):
        _run(_GIVE_BACK, tries, ["clear" if each.rule.kind == cleared else "" for each in tries], many=0)


def _numbers(answer: object, many: int) -> list[int]:
    """Return an answer that is so many whole numbers, none below zero; no script gives another."""
    numbers = [] if answer is None else answer
    if not isinstance(numbers, list) or len(numbers) != many:
        raise InvalidReply
    if not all(isinstance(number, int) for number in numbers):
        raise InvalidReply
    return [max(number, 0) for number in numbers]


def _run(script: str, tries: Sequence[Try], arguments: list[Any], *, many: int) -> list[int]:
    """Run a script, and return the numbers it answers, so many."""
    prefix = f"{settings.CACHE_PREFIX}:limits:{tenancy.active_id()}"
    keys = [f"{prefix}:{each.key_hash}" for each in tries]
    return shared_redis().ask(
        lambda redis: _numbers(redis.register_script(script)(keys=keys, args=arguments), many)
    )
