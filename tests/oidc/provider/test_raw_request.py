"""Which token requests a plan may answer, by their bytes."""

import base64
from io import BytesIO
from unittest import mock

import pytest

from oidc.provider.parameters import FORM_TYPE
from oidc.provider.token import raw_request

BODY = b"grant_type=client_credentials&client_id=robot&client_secret=secret"
BASIC = {"HTTP_AUTHORIZATION": f"Basic {base64.b64encode(b'robot:secret').decode()}"}


def environ(body=BODY, **changes):
    made = {
        "REQUEST_METHOD": "POST",
        "QUERY_STRING": "",
        "CONTENT_TYPE": FORM_TYPE,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": BytesIO(body),
    }
    return made | changes


@pytest.mark.parametrize("form_type", [FORM_TYPE, f"{FORM_TYPE.title()} ;charset=utf-8"])
def test_a_form_is_read_and_can_be_read_again(form_type):
    request = environ(CONTENT_TYPE=form_type)

    sent = raw_request.read(request)

    assert sent is not None
    assert (sent.client_id, sent.secret) == ("robot", "secret")
    assert request["wsgi.input"].read() == BODY


@pytest.mark.parametrize("form_type", ["", "text/plain", f"text/plain; {FORM_TYPE}"])
def test_a_body_of_another_type_is_not_read(form_type):
    request = environ(CONTENT_TYPE=form_type)
    stream = request["wsgi.input"]

    assert raw_request.read(request) is None
    assert (request["wsgi.input"], stream.tell()) == (stream, 0)


@pytest.mark.parametrize(
    "length", [None, "", "-1", "+5", "5.0", "1_0", "x", "\u0665", "\u00b2", "1025", "9" * 99]
)
def test_a_body_of_an_unusual_length_is_not_read(length):
    """A server waits for what was announced, and would take it into memory."""
    request = environ(CONTENT_LENGTH=length)
    stream = request["wsgi.input"]

    assert raw_request.read(request) is None
    assert (request["wsgi.input"], stream.tell()) == (stream, 0)


def test_a_body_that_ends_early_is_unusual():
    assert raw_request.read(environ(CONTENT_LENGTH=str(len(BODY) + 1))) is None


def test_a_body_that_cannot_be_read_fails_again_for_the_same_reason():
    error = OSError("the client has gone")
    request = environ(**{"wsgi.input": mock.Mock(read=mock.Mock(side_effect=[error, b""]))})

    assert raw_request.read(request) is None

    with pytest.raises(OSError, match="the client has gone"):
        request["wsgi.input"].read(1)


@pytest.mark.parametrize("headers", [{}, BASIC])
def test_a_body_has_at_most_1024_bytes(headers):
    longest = BODY + b"&x=" + b"x" * (1021 - len(BODY))

    assert raw_request.parse(headers, longest)
    assert raw_request.parse(headers, longest + b"x") is None


@pytest.mark.parametrize(
    "body",
    [
        b"grant_type=client_credentials",
        b"grant_type=client_credentials&client_secret=secret",
        b"grant_type=client_credentials&client_id=robot",
        b"grant_type=client_credentials&client_id=robot&client_secret=",
        b"grant_type=client_credentials&client_id=%72obot&client_secret=secret",
    ],
)
def test_a_body_without_plain_credentials_is_unusual(body):
    assert raw_request.parse({}, body) is None
