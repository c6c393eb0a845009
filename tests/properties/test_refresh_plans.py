"""Plans for refreshes against all steps: no change between two refreshes is missed by any worker."""

from datetime import timedelta
from functools import partial
from typing import Any

from django.db.models import F
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import rule

from identity.users.models import User
from oidc.grants.models import RefreshFamily
from tests.properties.changed_grants import SCOPE, Changes, described
from tests.support.cast import Browser
from tests.support.properties import run_machine


class Refreshes(Changes):
    """Each server has a family."""

    def prepare(self, browser: Browser) -> None:
        self.tokens = [
            self.client.tokens_for(self.user, browser, scope=SCOPE)["refresh_token"] for _ in self.worlds
        ]
        self.families = [token.partition(".")[0] for token in self.tokens]

    @rule()
    def give_the_families_the_epoch(self) -> None:
        with self.here.active():
            epoch = User.objects.get(pk=self.user.pk).epoch
        self.change_grants(epoch=epoch)

    @rule(hours=st.integers(1, 30))
    def let_time_pass(self, hours: int) -> None:
        passed = timedelta(hours=hours)
        self.change_grants(
            **{
                name: F(name) - passed
                for name in ("rotated_at", "created_at", "idle_expires_at", "expires_at")
            }
        )

    @rule(name=st.sampled_from(["ended_at", "expires_at", "idle_expires_at"]))
    def end_the_families(self, name: str) -> None:
        self.change_grants(**{name: timezone.now()})

    @rule()
    def begin_the_families_again(self) -> None:
        now = timezone.now()
        later = now + timedelta(days=5)
        self.change_grants(
            ended_at=None, expires_at=later, idle_expires_at=later, rotated_at=now, created_at=now
        )

    def ask_all(self, auth: tuple[str, str], form: dict[str, str]) -> list[Any]:
        return [self.refresh(number, auth, form) for number in range(len(self.worlds))]

    def refresh(self, number: int, auth: tuple[str, str], more: dict[str, str]) -> tuple[Any, ...]:
        form = {"grant_type": "refresh_token", "refresh_token": self.tokens[number], **more}
        answer = self.worlds[number].post("/oidc/token", data=form, auth=auth)
        if answer.status_code == 200:
            self.tokens[number] = answer.json()["refresh_token"]
        with self.here.active():
            family = RefreshFamily.objects.get(pk=self.families[number])
        # In hours: the families were rotated one after the other, and a rule ends all at the same moment.
        hours = round((family.idle_expires_at - family.rotated_at) / timedelta(hours=1))
        return *described(answer), family.generation, family.ended_at is None, hours

    def change_grants(self, **fields: Any) -> None:
        with self.here.active():
            RefreshFamily.objects.filter(pk__in=self.families).update(**fields)


def test_no_change_is_missed_by_another_worker(here, workers):
    run_machine(partial(Refreshes, here, workers), examples=3, steps=15)
