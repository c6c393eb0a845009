"""Counters in the Redis of ``CACHE_URL``, changed by Lua scripts that use the clock of Redis.

A counter is a hash: ``count`` and, for a lock, ``until`` in milliseconds. It expires with its window. A group
is a sorted set of the counters of its locks, by the times when they expire.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from django.conf import settings
from django.db import models

from database import chains
from database.chains import Chain
from database.redis import InvalidReply, Unavailable, shared_redis
from database.statements import Insert
from identity.core import tenancy
from identity.limits.rules import LOCK_SECONDS, MAX_ACTIVE_LOCKS, ActiveLock, Hit, Limit, Refusal, Window

# KEYS: the counters, then the group of the locks, if they have one.
# ARGV: for each counter "limit" or "lock", the number of hits or failures, and the milliseconds of the
# window; then the milliseconds of each lock, and the number of counters.
_HIT: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function read(key, field) return tonumber(redis.call('HGET', key, field) or 0) end
local counters = tonumber(ARGV[#ARGV])
local group = KEYS[counters + 1]

for i = 1, counters do
    local key = KEYS[i]
    if ARGV[3 * i - 2] == 'lock' then
        local left = read(key, 'until') - now
        if left > 0 then return {i, left} end
    elseif read(key, 'count') >= tonumber(ARGV[3 * i - 1]) then
        return {i, redis.call('PTTL', key)}
    end
end

for i = 1, counters do
    local key = KEYS[i]
    local count, window = redis.call('HINCRBY', key, 'count', 1), tonumber(ARGV[3 * i])
    if count == 1 then redis.call('PEXPIRE', key, window) end
    local further = count - tonumber(ARGV[3 * i - 1])
    if ARGV[3 * i - 2] == 'lock' and further >= 0 then
        local span = tonumber(ARGV[math.min(3 * counters + 1 + further, #ARGV - 1)])
        redis.call('HSET', key, 'until', string.format('%d', now + span))
        redis.call('PEXPIRE', key, span + window)
    end
    if group and ARGV[3 * i - 2] == 'lock' then
        redis.call('ZADD', group, now + redis.call('PTTL', key), key)
    end
end
if group then
    redis.call('ZREMRANGEBYSCORE', group, '-inf', now)
    local last = redis.call('ZREVRANGE', group, 0, 0, 'WITHSCORES')
    if last[2] then redis.call('PEXPIREAT', group, string.format('%d', tonumber(last[2]))) end
end
return {0, 0}
"""
# KEYS: groups. ARGV: the highest number of locks to return.
_GET_LOCKS: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local locks = {}
for _, group in ipairs(KEYS) do
    for _, key in ipairs(redis.call('ZREVRANGE', group, 0, -1)) do
        local left = tonumber(redis.call('HGET', key, 'until') or 0) - now
        if left > 0 and #locks < 2 * tonumber(ARGV[1]) then
            table.insert(locks, key)
            table.insert(locks, left)
        end
    end
end
return locks
"""
_CLEAR: Final = """
for _, group in ipairs(KEYS) do
    for _, key in ipairs(redis.call('ZRANGE', group, 0, -1)) do redis.call('DEL', key) end
    redis.call('DEL', group)
end
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
    arguments: list[Any] = []
    for rule in (hit.rule for hit in hits):
        kind, most = ("limit", rule.max_hits) if isinstance(rule, Limit) else ("lock", rule.failures)
        arguments += [kind, most, 1000 * rule.seconds]
    arguments += [*(1000 * seconds for seconds in LOCK_SECONDS), len(hits)]
    groups = {hit.group_hash for hit in hits if hit.group_hash}
    position, milliseconds = _run(_HIT, hits, arguments, reply_length=2, groups=sorted(groups)[:1])
    if position > len(hits):
        raise Unavailable
    return Refusal(hits[position - 1], milliseconds // 1000 + 1) if position else None


def count_and_insert(hit: Hit, insert: Insert, row: models.Model) -> Refusal | None:
    """Count a hit, insert a row and return None, or return the refusal. If the insert fails, the hit counts.

    Raises:
        Unavailable: Redis does not answer, or its reply is invalid.

    """
    refusal = count_hits([hit])
    if refusal is None:
        insert(row)
    return refusal


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


def undo(hits: Sequence[Hit], *, cleared_kind: str = "", chain: Chain | None = None) -> None:
    """Undo hits, and clear the counters of ``cleared_kind``. If Redis does not answer, they stay counted."""
    changes = ["clear" if hit.rule.kind == cleared_kind else "" for hit in hits]

    def run() -> None:
        with suppress(Unavailable):
            _run(_UNDO, hits, changes, reply_length=0)

    with chains.joined(chain) as writes:
        writes.then(run)


def get_locks(group_hashes: Sequence[str]) -> list[ActiveLock]:
    """Return the active locks of groups, the longest first, at most ``MAX_ACTIVE_LOCKS``.

    Raises:
        Unavailable: Redis does not answer, or its reply is invalid.

    """
    prefix = _get_prefix()
    keys = [f"{prefix}:group:{group}" for group in group_hashes]
    locks = shared_redis().run(
        lambda redis: _parse_locks(redis.register_script(_GET_LOCKS)(keys=keys, args=[MAX_ACTIVE_LOCKS]))
    )
    return sorted(locks, key=lambda lock: -lock.resets_in)


def clear(group_hashes: Sequence[str]) -> bool:
    """Delete all counters of groups. If Redis does not answer, they stay, and the result is false."""
    prefix = _get_prefix()
    keys = [f"{prefix}:group:{group}" for group in group_hashes]
    try:
        shared_redis().run(lambda redis: redis.register_script(_CLEAR)(keys=keys))
    except Unavailable:
        return False
    return True


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


def _parse_locks(reply: object) -> list[ActiveLock]:
    """Return the locks of a reply, which has the name of each counter and its milliseconds.

    Raises:
        InvalidReply: the reply is not such a list.

    """
    if not isinstance(reply, list) or not all(isinstance(name, bytes) for name in reply[::2]):
        raise InvalidReply
    hashes = [name.rpartition(b":")[2].decode() for name in reply[::2]]
    numbers = _parse_numbers(reply[1::2], len(hashes))
    return [
        ActiveLock(key_hash, number // 1000 + 1) for key_hash, number in zip(hashes, numbers, strict=True)
    ]


def _get_prefix() -> str:
    return f"{settings.CACHE_PREFIX}:limits:{tenancy.active_id()}"


def _run(
    script: str, hits: Sequence[Hit], arguments: list[Any], *, reply_length: int, groups: Sequence[str] = ()
) -> list[int]:
    """Run a script on the counters of ``hits`` and on groups, and return the numbers of its reply."""
    prefix = _get_prefix()
    keys = [*(f"{prefix}:{hit.key_hash}" for hit in hits), *(f"{prefix}:group:{group}" for group in groups)]
    return shared_redis().run(
        lambda redis: _parse_numbers(redis.register_script(script)(keys=keys, args=arguments), reply_length)
    )
