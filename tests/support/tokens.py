"""Whether Gatehouse accepts a token."""


def is_refused(world, token: str) -> bool:
    """Return whether a token is refused: by userinfo, in the header and the body, and by the APIs."""
    answers = [
        world.get("/oidc/userinfo", headers={b"Authorization": b"Bearer " + token.encode()}),
        world.post("/oidc/userinfo", data={"access_token": token}),
        *(
            world.get(path, headers={b"Authorization": b"Bearer " + token.encode()})
            for path in ("/api/admin/me", "/api/session/context", "/api/v1/users")
        ),
    ]
    assert {answer.status_code for answer in answers} <= {200, 401, 403}, [answer.text for answer in answers]
    return [answer.status_code for answer in answers] == [401] * 5
