"""The order in which a process sends the messages of tenants."""

import time
from contextlib import ExitStack

import pytest

from interaction.verification.models import OutgoingMessage
from interaction.verification.turns import Turns


class Queue:
    """Messages in the order in which they are due, by tenant, and the queries for them."""

    def __init__(self, tenants: str) -> None:
        self.waiting = [OutgoingMessage(tenant_id=tenant) for tenant in tenants]
        self.queries = 0

    def claim(self, passed_over):
        self.queries += 1
        for row in self.waiting:
            if row.tenant_id not in passed_over:
                self.waiting.remove(row)
                return row
        return None


def take_all(turns: Turns, queue: Queue) -> str:
    """Send everything, one after the other, and return the tenants in the order of their messages."""
    order = ""
    while True:
        with turns.take(queue.claim) as row:
            if row is None:
                return order
            order += str(row.tenant_id)


def test_one_message_of_each_tenant_is_sent_in_a_round():
    assert take_all(Turns(), Queue("aaaabbc")) == "abcabaa"


def test_a_tenant_whose_message_is_being_sent_waits_for_the_others():
    turns, queue = Turns(), Queue("aaabb")

    with turns.take(queue.claim) as slow:
        order = take_all(turns, queue)

    assert slow is not None
    assert slow.tenant_id == "a"
    assert order == "bbaa"


def test_a_tenant_has_all_threads_if_nobody_else_waits():
    turns, queue = Turns(), Queue("aa")

    with ExitStack() as threads:
        rows = [threads.enter_context(turns.take(queue.claim)) for _ in range(2)]

    assert [row.tenant_id for row in rows if row is not None] == ["a", "a"]


def test_a_message_that_fails_ends_its_turn():
    turns, queue = Turns(), Queue("aab")

    with pytest.raises(ZeroDivisionError), turns.take(queue.claim):
        _ = 1 / 0

    assert take_all(turns, queue) == "ba"


def test_a_tenant_that_waits_alone_costs_one_query_for_each_message():
    queue = Queue("a" * 20)

    take_all(Turns(), queue)

    assert queue.queries == 20 + 1 + 1  # one that finds no other tenant, and one that finds no message


def test_two_threads_of_a_tenant_that_waits_alone_look_for_others_once():
    turns, queue = Turns(), Queue("a" * 20)

    with turns.take(queue.claim):
        take_all(turns, queue)

    assert queue.queries == 20 + 1 + 1


def test_a_tenant_that_comes_later_has_its_turn_after_a_second():
    turns, queue = Turns(), Queue("aaaa")
    for _ in range(2):
        with turns.take(queue.claim):
            pass

    queue.waiting += Queue("b").waiting
    time.sleep(1.1)

    assert take_all(turns, queue) == "baa"


def test_messages_that_come_to_an_idle_process_are_sent_in_turns_at_once():
    turns, queue = Turns(), Queue("aa")
    take_all(turns, queue)

    assert take_all(turns, Queue("aab")) == "aba"


def test_an_idle_process_looks_with_one_query():
    turns, queue = Turns(), Queue("ab")
    take_all(turns, queue)
    queue.queries = 0

    take_all(turns, queue)

    assert queue.queries == 1
