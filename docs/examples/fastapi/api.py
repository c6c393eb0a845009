"""An API in FastAPI that takes access tokens; ``tokens.py`` of docs/examples/resource_server is beside it."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, HTTPException
from tokens import RefusedError, caller

app = FastAPI()


def may(scope: str) -> Callable[..., dict[str, Any]]:
    """Return a dependency: the claims of a caller whose token holds this scope."""

    def check(authorization: Annotated[str, Header()] = "") -> dict[str, Any]:
        try:
            return caller(authorization, scope=scope)
        except RefusedError as refused:
            raise HTTPException(refused.status, headers={"WWW-Authenticate": refused.challenge}) from None

    return check


@app.get("/orders")
def orders(claims: Annotated[dict[str, Any], Depends(may("read:orders"))]) -> dict[str, str]:
    """Answer who asked."""
    return {"caller": claims["sub"]}
