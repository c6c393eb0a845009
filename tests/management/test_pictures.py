"""Uploaded logos and icons: what is taken, what is stored of it, and how it is served."""

import base64
import re
import struct

import pytest

from identity.core import tenancy
from identity.tenants import services as tenants
from interaction.experience.models import StoredPicture
from tests.support import cast, management
from tests.support.management import refusal_of, result_of
from tests.support.pictures import SVG, chunk, data_url, png

LOSSLESS = base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
LOSSY = base64.b64decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
FORM = "/admin/experience/signinexperience/{}/do/look/"


def webp(*chunks):
    body = b"WEBP" + b"".join(struct.pack("<4sI", kind, len(data)) + data for kind, data in chunks)
    return struct.pack("<4sI", b"RIFF", len(body)) + body


def upload(admin, content, name="logo_url"):
    return admin.patch("/sign-in-experience", branding={name: data_url(content)})


def address_of(answer, name="logo_url"):
    return result_of(answer)["branding"][name]


def served(acme, answer):
    return acme.get(address_of(answer).removeprefix(acme.address))


def count(world):
    with world.active():
        return StoredPicture.objects.count()


class TestAPicture:
    @pytest.mark.parametrize(
        ("content", "content_type"),
        [(png(), "image/png"), (LOSSLESS, "image/webp"), (LOSSY, "image/webp"), (SVG, "image/svg+xml")],
    )
    def test_is_served_from_our_own_address_by_what_it_is(self, acme, admin, content, content_type):
        stored = upload(admin, content)
        answer = served(acme, stored)

        assert re.fullmatch(rf"{acme.address}/pictures/[0-9a-f]{{32}}", address_of(stored))
        assert answer.headers["Content-Type"] == content_type
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["Content-Security-Policy"] == (
            "default-src 'none'; frame-ancestors 'none'; sandbox"
        )
        assert "Set-Cookie" not in answer.headers
        assert answer.content == (content.encode() if isinstance(content, str) else content)

    def test_is_on_the_pages_in_messages_and_for_front_ends(self, acme, admin):
        logo = address_of(upload(admin, png()))

        assert f'src="{logo}"' in acme.get("/sign-in").text
        offered = acme.get("/api/interaction/sign-in-experience").json()["result"]
        assert offered["branding"]["logo_url"] == logo

    def test_keeps_nothing_but_the_picture(self, acme, admin):
        secret = b"Ada's home, 52.1 N"
        inside = png(2, 2, chunk(b"tEXt", b"Comment\0" + secret), chunk(b"eXIf", secret))

        assert served(acme, upload(admin, inside + b"<script>")).content == png()
        extended = struct.pack("<I", 0b1100)[:1] + b"\0" * 9
        plain = struct.unpack_from("<I", LOSSLESS, 16)[0]
        image = LOSSLESS[20 : 20 + plain] + b"\0" * (plain % 2)
        with_exif = webp((b"VP8X", extended), (b"VP8L", image), (b"EXIF", secret))
        assert secret not in served(acme, upload(admin, with_exif + b"tail")).content

    def test_that_is_read_and_written_back_stays(self, acme, admin):
        branding = result_of(upload(admin, png()))["branding"]

        assert result_of(admin.patch("/sign-in-experience", branding=branding))["branding"] == branding
        assert count(acme) == 1

    def test_of_another_tenant_is_unknown_here(self, acme, admin):
        beta = cast.new_world("Beta")
        logo = address_of(upload(admin, png()))
        path = logo.removeprefix(acme.address)

        assert beta.get(path).status_code == 404
        for url in (logo, f"{beta.address}{path}"):
            refused = management.superuser(beta).patch("/sign-in-experience", branding={"logo_url": url})
            refusal_of(refused, 400)

    @pytest.mark.parametrize("name", ["x", "0" * 32, "%00", "A" * 32, "0" * 5000])
    def test_that_is_not_there_is_404(self, acme, name):
        assert acme.get(f"/pictures/{name}").status_code == 404


class TestWhatEndsIt:
    def test_another_picture_or_none(self, acme, admin):
        first = upload(admin, png())
        upload(admin, SVG, "dark_logo_url")
        assert count(acme) == 2

        upload(admin, png(3, 3))
        assert count(acme) == 2
        assert served(acme, first).status_code == 404

        cleared = {"logo_url": "", "dark_logo_url": "https://cdn.example.com/logo.svg"}
        result_of(admin.patch("/sign-in-experience", branding=cleared))
        assert count(acme) == 0

    def test_the_same_picture_twice_is_stored_once(self, acme, admin):
        upload(admin, png())
        upload(admin, png(), "dark_logo_url")
        result_of(admin.patch("/sign-in-experience", branding={"logo_url": ""}))

        assert count(acme) == 1

    @pytest.mark.usefixtures("address")
    def test_the_tenant_s_deletion(self):
        beta = cast.new_world("Beta")
        upload(management.superuser(beta), png())

        tenants.remove(beta.tenant)

        with tenancy.using(tenancy.EVERYWHERE):
            assert not StoredPicture.objects.filter(tenant_id=beta.tenant.pk).exists()


def repeating(levels, what):
    """An SVG whose parts each refer to the next one."""
    parts = (f'<g id="p{level}">{what.replace("{}", str(level + 1))}</g>' for level in range(levels))
    return SVG.replace("<rect", "".join(parts) + f'<g id="p{levels}"><rect/></g><rect')


BOMBS = {
    "a bomb": (png(60_000, 60_000), "2048 pixels"),
    "no size": (png(0, 2), "2048 pixels"),
    "an animation": (png(2, 2, chunk(b"acTL", struct.pack(">II", 2, 0))), "animated"),
    "a damaged sum": (png()[:-1] + b"x", "damaged"),
    "a cut file": (png()[:40], "damaged"),
    "a lying length": (b"\x89PNG\r\n\x1a\n\xff\xff\xff\xffIHDR", "damaged"),
    "a WebP bomb": (webp((b"VP8L", b"\x2f\xff\xff\xff\x0f\0\0\0")), "2048 pixels"),
    "a WebP animation": (webp((b"VP8X", b"\x02" + b"\0" * 9), (b"ANIM", b"\0" * 6)), "animated"),
    "an empty WebP": (webp(), "damaged"),
    "half a WebP": (LOSSY[:30], "damaged"),
    "too much": (b"\x89PNG\r\n\x1a\n" + b"\0" * (256 * 1024), "256 KiB"),
    "a page": ("<!doctype html><script>alert(1)</script>", "no PNG"),
    "a page in XML": ('<html xmlns="http://www.w3.org/1999/xhtml"><script/></html>', "no PNG, WebP or SVG"),
    "a GIF": (b"GIF89a\1\0\1\0\0\0\0;", "no PNG"),
    "nothing": (b"", "no PNG"),
    "entities": ('<!DOCTYPE svg [<!ENTITY a "aaaa">]>' + SVG, "DOCTYPE"),
    "an outer entity": ('<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>', "DOCTYPE"),
    "a style sheet": (SVG.replace("<rect", "<style>@import 'https://evil.example'</style><rect"), "style"),
    "too many parts": (SVG.replace("<rect", "<g/>" * 3000 + "<rect"), "too many"),
    "parts shown by parts": (repeating(9, '<use href="#p{}"/>' * 10), "too many"),
    "parts clipped by parts": (repeating(9, '<g clip-path="url(#p{})"/>' * 10), "too many"),
    "a chain of parts": (repeating(900, '<use href="#p{}"/>'), "too many"),
    "a part inside of itself": (SVG.replace("<rect", '<g id="a"><use href="#a"/></g><rect'), "too many"),
    "too deep parts": (SVG.replace("<rect", "<g>" * 100 + "<rect"), "too many"),
    "no XML": ("<svg xmlns='http://www.w3.org/2000/svg'><rect></svg>", "well-formed"),
    "an unknown encoding": ('<?xml version="1.0" encoding="x-evil"?>' + SVG, "well-formed"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_file_is_refused_that_is(acme, admin, name):
    content, says = BOMBS[name]

    assert says in refusal_of(upload(admin, content), 400)
    assert count(acme) == 0


@pytest.mark.parametrize(
    "url",
    ["data:", "data:,x", "data:image/png;base64,%%%", "data:image/png,abc", "http://a.example/x.png", "x\0",
     "data:image/png;base64,\u00e4", "javascript:alert(1)"],
)  # fmt: skip
def test_what_is_no_picture_and_no_address_is_refused(admin, url):
    refusal_of(admin.patch("/sign-in-experience", branding={"logo_url": url}), 400)


DROPPED = {
    "script": "<script>alert(1)</script>",
    "script of another namespace": '<x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>',
    "event": '<rect onload="alert(1)" onclick="alert(1)"/>',
    "foreign object": '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml">alert</body></foreignObject>',
    "link": '<a href="javascript:alert(1)"><rect/></a>',
    "outer use": '<use href="https://evil.example/x.svg#a"/>',
    "outer use by xlink": '<use xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="//evil.example/#a"/>',
    "picture": '<image href="https://evil.example/x.png"/>',
    "animation": '<rect><set attributeName="href" to="javascript:alert(1)"/></rect>',
    "outer fill": '<rect fill="url(https://evil.example/#a)"/>',
    "style": "<rect style=\"fill:url('https://evil.example/a'); background: url(//evil.example)\"/>",
    "hidden style": '<rect style="fill:u\\72l(//evil.example)"/>',
    "instruction": '<?xml-stylesheet href="https://evil.example/a.css"?>',
    "filter": '<filter><feImage href="https://evil.example/x.png"/></filter>',
    "comment": "<!-- evil.example alert -->",
    "base": '<rect xml:base="https://evil.example/"/>',
}


@pytest.mark.parametrize("name", DROPPED)
def test_an_svg_is_stored_without(acme, admin, name):
    stored = served(acme, upload(admin, SVG.replace("<rect", DROPPED[name] + "<rect"))).text

    assert 'fill="#f06"' in stored
    assert not re.search(r"evil|alert|script|on\w+=|foreign|<set|style|xlink|filter", stored)


def test_an_svg_without_a_size_gets_that_of_its_view_box(acme, admin):
    stored = served(acme, upload(admin, SVG.replace('width="8" height="8" viewBox', "viewBox"))).text

    assert 'xmlns="http://www.w3.org/2000/svg" width="8" height="8" viewBox="0 0 8 8"' in stored


def test_an_svg_keeps_its_look(acme, admin):
    parts = (
        '<defs><linearGradient id="a"><stop offset="0" style="stop-color:#f06;stop-opacity:.5"/>'
        '</linearGradient><path id="b" d="M0 0h8"/></defs>'
        '<use xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="#b" fill="url(#a)"/>'
        "<text>A &lt;b&gt; &amp; c</text>"
    )

    stored = served(acme, upload(admin, SVG.replace("<rect", parts + "<rect"))).text

    assert '<stop offset="0" stop-color="#f06" stop-opacity=".5"></stop>' in stored
    assert '<use href="#b" fill="url(#a)"></use>' in stored
    assert "<text>A &lt;b&gt; &amp; c</text>" in stored


class TestTheOperatorsForm:
    @staticmethod
    def send(operator, path, content, name="logo.png", **typed):
        shown = operator.get(path).text
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', shown))
        return operator.http.post(
            path, data=hidden | typed, files={"upload_logo_url": (name, content, "image/png")}
        )

    def test_takes_a_file_and_shows_it_before_it_is_saved(self, acme, admin, operator):
        path = FORM.format(result_of(admin.get("/sign-in-experience"))["id"])

        assert 'enctype="multipart/form-data"' in operator.get(path).text
        token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', operator.get(path).text)[0]
        drawn = operator.http.post(
            f"{path}preview/sign-in/",
            data={"csrfmiddlewaretoken": token, "drawn_for": operator.tenant},
            files={"upload_logo_url": ("x.exe", png(), "text/html")},
        )
        assert f'src="{data_url(png())}"' in drawn.text
        assert count(acme) == 0

        saved = self.send(operator, path, png(), name="../../x.svg", primary_color="#0a84ff")
        assert saved.status_code == 303
        branding = result_of(admin.get("/sign-in-experience"))["branding"]
        assert branding["logo_url"].startswith(f"{acme.address}/pictures/")
        assert branding["primary_color"] == "#0a84ff"
        assert f'value="{branding["logo_url"]}"' in operator.get(path).text

    def test_says_what_is_wrong_with_a_file(self, acme, admin, operator):
        path = FORM.format(result_of(admin.get("/sign-in-experience"))["id"])

        for content, says in (BOMBS["a bomb"], BOMBS["too much"], BOMBS["nothing"]):
            refused = self.send(operator, path, content)
            assert refused.status_code == 400
            assert says in refused.text
        assert count(acme) == 0

    def test_is_the_only_one_that_takes_files(self, acme):
        sent = acme.post("/sign-in", files={"identifier": ("a", b"x" * 1000)})

        assert sent.status_code in {400, 403}
