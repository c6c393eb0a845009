"""Counters in the Redis of ``CACHE_URL``, changed by Lua scripts that use the clock of Redis.

A counter is a hash: ``count`` and, for a lock, ``until`` in milliseconds. It expires with its window.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from django.conf import settings

from database.redis import InvalidReply, Unavailable, shared_redis
from identity.core import tenancy
from identity.limits.rules import LOCK_SECONDS, Hit, Limit, Refusal, Window

# ARGV: for each key "limit" or "lock", the number of hits or failures, and the milliseconds of the window;
# then the milliseconds of each lock.
_HIT: Final = """
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
_INCREMENT: Final = """
local count = redis.call('HINCRBY', KEYS[1], 'count', 1)
if count == 1 then redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[1])) end
return {count, redis.call('PTTL', KEYS[1])}
"""
_GET_COUNTS: Final = """
local counts = {}
for i, key in ipairs(KEYS) do counts[i] = tonumber(redis.call('HGET', key, 'count') or 0) end
return counts
"""
_UNDO: Final = """
for i, key in ipairs(KEYS) do
    if ARGV[i] == 'clear' or tonumber(redis.call('HGET', key, 'count') or 0) <= 1 then
        redis.call('DEL', key)
    else
        redis.call('HINCRBY', key, 'count', -1)
        redis.call('HDEL', key, 'until')
    end
end
"""


def count_hits(hits: Sequence[Hit]) -> Refusal | None:
    """Count all hits and return None, or count none and return the first refusal. A rollback undoes no hit.

    Raises:
        Unavailable: Redis does not answer, or its reply is invalid.

    """
    arguments = [
        argument
        for rule in (hit.rule for hit in hits)
        for argument in (
            ("limit", rule.max_hits, 1000 * rule.seconds)
            if isinstance(rule, Limit)
            else ("lock", rule.failures, 1000 * rule.seconds)
        )
    ]
    arguments += [1000 * seconds for seconds in LOCK_SECONDS]
    position, milliseconds = _run(_HIT, hits, arguments, reply_length=2)
    if position > len(hits):
        raise Unavailable
    return Refusal(hits[position - 1], milliseconds // 1000 + 1) if position else None


def increment(hit: Hit) -> Window:
    """Count a hit, even beyond its limit, and return the window.

    Raises:
        Unavailable: Redis does not answer.

    """
    count, milliseconds = _run(_INCREMENT, [hit], [1000 * hit.rule.seconds], reply_length=2)
    return Window(count, milliseconds // 1000 + 1)


def is_any_reached(hits: Sequence[Hit]) -> bool:
    """Return whether one of these limits is reached. Nothing is counted.

    Raises:
        Unavailable: Redis does not answer.

    """
    counts = _run(_GET_COUNTS, hits, [], reply_length=len(hits))
    pairs = zip(hits, counts, strict=True)
    return any(isinstance(hit.rule, Limit) and count >= hit.rule.max_hits for hit, count in pairs)


def undo(hits: Sequence[Hit], *, cleared_kind: str = "") -> None:
    """Undo hits, and clear the counters of ``cleared_kind``. If Redis does not answer, they stay counted."""
    with suppress(Unavailable):
        _run(
            _UNDO,
            hits,
            ["clear" if hit.rule.kind == cleared_kind else "" for hit in hits],
            reply_length=0,
        )


def _parse_numbers(reply: object, length: int) -> list[int]:
    """Return the numbers of a reply, with zero in place of negative ones.

    Raises:
        InvalidReply: the reply is not a list of ``length`` whole numbers.

    """
    numbers = [] if reply is None else reply
    if not isinstance(numbers, list) or len(numbers) != length:
        raise InvalidReply
    if not all(isinstance(number, int) for number in numbers):
        raise InvalidReply
    return [max(number, 0) for number in numbers]


def _run(script: str, hits: Sequence[Hit], arguments: list[Any], *, reply_length: int) -> list[int]:
    """Run a script on the counters of ``hits``, and return the numbers of its reply."""
    prefix = f"{settings.CACHE_PREFIX}:limits:{tenancy.active_id()}"
    keys = [f"{prefix}:{hit.key_hash}" for hit in hits]
    return shared_redis().run(
        lambda redis: _parse_numbers(redis.register_script(script)(keys=keys, args=arguments), reply_length)
    )
