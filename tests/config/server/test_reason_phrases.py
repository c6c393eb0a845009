"""The reason phrases of status lines."""

from tests.support.management import administrator


class TestReasonPhrases:
    def test_a_failed_precondition_has_its_phrase(self, acme):
        admin = administrator(acme)
        organization = admin.created("/organizations", name="Phrases")["id"]

        answer = admin.saying(if_match='"0"').patch(f"/organizations/{organization}", name="x")

        assert (answer.status_code, answer.reason_phrase) == (412, "Precondition Failed")
