"""Browsers that work the provider's pages as the configuration tells the suite's own browser to."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import httpx
from playwright.sync_api import Page, Response

from tests.conformance.verdict import Failure
from tests.support.forms import Form, forms

Block = dict[str, Any]


@dataclass(frozen=True)
class Stop:
    """Where a browser stands. At the suite there is no page to look at, but a form may have been posted."""

    address: str
    status: int = 0
    page: str = ""
    posted: dict[str, str] | None = None

    @property
    def heading(self) -> str:
        found = re.search(r"<h1[^>]*>(.*?)</h1>", self.page, re.DOTALL)
        return re.sub(r"<[^>]*>", "", found[1]).strip() if found else ""


@dataclass
class Agent(ABC):
    """``done`` are the tasks that were needed; ``pictures`` the pages that the suite asked to see."""

    suite: str
    automation: list[Block]
    done: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)

    @abstractmethod
    def go(self, address: str) -> Stop:
        """Follow a link."""

    @abstractmethod
    def post(self, address: str, fields: dict[str, str]) -> Stop:
        """Send a form of the suite's own site."""

    @abstractmethod
    def click(self, stop: Stop, selector: str, typed: dict[str, str]) -> Stop | None:
        """Fill a form and press a button; nothing when there is no such button."""

    def visit(self, address: str, fields: dict[str, str] | None = None) -> Stop:
        """Go somewhere and do what the configuration says of the pages that follow, up to the suite."""
        stop = self.go(address) if fields is None else self.post(address, fields)
        self.done.clear()
        block = next((found for found in self.automation if fnmatchcase(address, found["match"])), None)
        for task in block["tasks"] if block else ():
            if fnmatchcase(stop.address, task["match"]):
                self.done.append(task["task"])
                stop = self._work(stop, task["commands"])
            elif not task["optional"]:
                raise Failure(f"the task {task['task']} was not reached, but {stop.address}")
        return stop

    def _work(self, stop: Stop, commands: list[list[Any]]) -> Stop:
        typed: dict[str, str] = {}
        for command, how, what, *more in commands:
            if command == "text" and how == "name":
                typed[what] = more[0]
            elif command == "click" and how == "css":
                after = self.click(stop, what, typed)
                if after is None and "optional" not in more:
                    raise Failure(f"there is nothing to click at {stop.address}: {what}")
                stop = after or stop
            elif command == "wait" and how == "css":
                if not (stop.heading and re.search(more[1], stop.heading)):
                    raise Failure(f"there is no heading at {stop.address}")
                self.pictures.append(stop.heading)
            elif (command, how, what) != ("wait", "id", "submission_complete"):
                raise Failure(f"the suite knows no such command: {command} {how}")
        return stop


@dataclass
class Scripted(Agent):
    """Cookies, redirects and forms, without a window."""

    http: httpx.Client = field(default_factory=httpx.Client)

    def go(self, address: str) -> Stop:
        return self._followed(self.http.get(address))

    def post(self, address: str, fields: dict[str, str]) -> Stop:
        return self._followed(self.http.post(address, data=fields))

    def click(self, stop: Stop, selector: str, typed: dict[str, str]) -> Stop | None:
        found: list[Form] = forms(httpx.Response(stop.status, text=stop.page))
        if not found:
            return None
        wanted = re.search(r"\[value='(\w+)'\]", selector)
        pressed = [(name, value) for name, value in found[0].buttons if wanted and value == wanted[1]]
        if wanted and not pressed:
            return None
        target = httpx.URL(stop.address).join(found[0].action)
        origin = f"{target.scheme}://{target.netloc.decode()}"
        sent = found[0].fields | typed | dict(pressed)
        return self._followed(self.http.post(target, data=sent, headers={"Origin": origin}))

    def _followed(self, answer: httpx.Response) -> Stop:
        for _ in range(10):
            if not answer.has_redirect_location:
                return self._submitted(answer)
            # Byte for byte as it was sent: what is read of it is compared with what went out.
            location = answer.headers["Location"]
            if location.startswith(f"{self.suite}/"):
                return Stop(location)
            answer = self.http.get(answer.url.join(location))
        raise Failure(f"the redirects do not end: {answer.url}")

    def _submitted(self, answer: httpx.Response) -> Stop:
        """Submit a form that leads to the suite, as the page's script does; stay at any other page."""
        for form in forms(answer):
            if form.action.startswith(f"{self.suite}/") and form.method == "post":
                return Stop(form.action, posted=form.fields)
        return Stop(str(answer.url), answer.status_code, answer.text)


@dataclass
class Window(Agent):
    """A window of a real browser, which has views of its own on cookies and other people's forms."""

    page: Page = field(kw_only=True)
    _status: int = 0

    def __post_init__(self) -> None:
        self.page.on("response", self._note)

    def _note(self, response: Response) -> None:
        if response.request.is_navigation_request() and response.frame == self.page.main_frame:
            self._status = response.status

    def go(self, address: str) -> Stop:
        self.page.goto(address)
        return self._here()

    def post(self, address: str, fields: dict[str, str]) -> Stop:
        self.page.goto(f"{self.suite}/start")
        self.page.evaluate(
            """([address, fields]) => {
                const form = Object.assign(document.createElement("form"), {method: "post", action: address});
                for (const [name, value] of Object.entries(fields))
                    form.append(Object.assign(document.createElement("input"), {name, value}));
                form.append(document.createElement("button"));
                document.body.append(form);
            }""",
            [address, fields],
        )
        with self.page.expect_navigation():
            self.page.locator("form button").click()
        return self._here()

    def click(self, stop: Stop, selector: str, typed: dict[str, str]) -> Stop | None:
        for name, value in typed.items():
            field = self.page.locator(f"[name='{name}']")
            if field.is_editable():  # keys change nothing in a field that is read-only
                field.fill(value)
        button = self.page.locator(selector)
        if not button.count():
            return None
        with self.page.expect_navigation():
            button.click()
        return self._here()

    def _here(self) -> Stop:
        return Stop(self.page.url, self._status, self.page.content())
