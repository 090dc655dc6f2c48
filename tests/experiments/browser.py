"""Drive a headless Chromium through its debugging pipe, with nothing but the standard library.

Messages of the Chrome DevTools Protocol are JSON documents that end in a NUL
byte; the browser reads them from file descriptor 3 and answers on 4. Used by
the tests of the report and to photograph it.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

CANDIDATES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)
PATIENCE_SECONDS = 30.0


class BrowserError(RuntimeError):
    """The browser did not answer, or refused a command."""


def find_browser() -> str | None:
    """The path of an installed Chromium or Chrome, if any."""
    return next((path for name in CANDIDATES if (path := shutil.which(name))), None)


class Browser:
    """One page in one browser process; a context manager.

    Attributes
    ----------
    events : every event the page has sent so far, as dictionaries.
    """

    def __init__(
        self, executable: str | None = None, *, width: int = 1280, height: int = 900
    ) -> None:
        path = executable or find_browser()
        if path is None:
            raise BrowserError(f"no browser found; install one of {', '.join(CANDIDATES)}")
        self.events: list[dict[str, Any]] = []
        self._answers: dict[int, dict[str, Any]] = {}
        self._buffer = b""
        self._last_id = 0
        self._session = ""
        self._profile = tempfile.TemporaryDirectory(
            prefix="report-browser-", ignore_cleanup_errors=True
        )
        self._process = self._start(path, width, height)

    def __enter__(self) -> Browser:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The browser is a family of processes in a group of their own.
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def _start(self, path: str, width: int, height: int) -> subprocess.Popen[bytes]:
        read_commands, self._to = os.pipe()
        self._from, write_answers = os.pipe()
        # The shell moves the two ends to the descriptors the browser expects.
        script = f'exec "$0" "$@" 3<&{read_commands} 4>&{write_answers}'
        arguments = [*FLAGS, f"--user-data-dir={self._profile.name}"]
        process = subprocess.Popen(
            ["bash", "-c", script, path, *arguments, f"--window-size={width},{height}"],
            pass_fds=(read_commands, write_answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(read_commands)
        os.close(write_answers)
        return process

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command of the protocol and return its result."""
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        _write_all(self._to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._last_id not in self._answers:
            self._receive(deadline, method)
        answer = self._answers.pop(self._last_id)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return dict(answer["result"])

    def _receive(self, deadline: float, waiting_for: str) -> None:
        ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
        data = os.read(self._from, 1 << 20) if ready else b""
        if not data:
            state = "is silent" if self._process.poll() is None else "has ended"
            raise BrowserError(f"the browser {state} while waiting for {waiting_for}")
        *complete, self._buffer = (self._buffer + data).split(b"\0")
        for text in complete:
            message = json.loads(text)
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self.events.append(message)

    def open(self, url: str) -> None:
        """Load a page and wait until it has finished loading."""
        before = len(self.events)
        self.send("Page.navigate", url=url)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not any(event["method"] == "Page.loadEventFired" for event in self.events[before:]):
            self._receive(deadline, f"{url} to load")

    def run(self, expression: str) -> Any:
        """Evaluate JavaScript in the page; promises are awaited, exceptions raised here."""
        answer = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            text = details.get("exception", {}).get("description") or details["text"]
            raise BrowserError(f"{expression!r}: {text}")
        return answer["result"].get("value")

    def wait_for(self, expression: str, seconds: float = 15.0) -> None:
        """Wait until an expression becomes true."""
        deadline = time.monotonic() + seconds
        while not self.run(expression):
            if time.monotonic() > deadline:
                raise BrowserError(f"never became true: {expression}")
            time.sleep(0.02)

    def resize(self, width: int, height: int, *, scale: float = 1, mobile: bool = False) -> None:
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=mobile,
        )

    def prefer(self, scheme: str) -> None:
        """Pretend that the system prefers ``light`` or ``dark``, and little motion."""
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        self.send(
            "Emulation.setEmulatedMedia",
            features=[{"name": name, "value": value} for name, value in features.items()],
        )

    def middle_of(self, selector: str) -> tuple[float, float]:
        """Scroll an element into view; return the point in its middle."""
        box = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = e.getBoundingClientRect();"
            "return [b.left + b.width / 2, b.top + b.height / 2]; })()"
        )
        return float(box[0]), float(box[1])

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def hover(self, selector: str) -> None:
        self.mouse("mouseMoved", *self.middle_of(selector))

    def click(self, selector: str) -> None:
        x, y = self.middle_of(selector)
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def press(self, *keys: str) -> None:
        """Press keys by their names: ``Tab``, ``Enter``, ``ArrowDown``, ``a``."""
        for key in keys:
            text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
            code = {"Enter": 13, "Tab": 9, "Escape": 27, " ": 32}.get(key, 0)
            common = {"key": key, "windowsVirtualKeyCode": code}
            self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
            self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        self.send("Input.insertText", text=text)

    def settle(self) -> None:
        """Wait until what was asked for is also painted."""
        self.run(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
        )

    def picture(self, path: Path) -> Path:
        """Photograph what is visible as PNG."""
        self.settle()
        answer = self.send("Page.captureScreenshot", format="png")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(answer["data"]))
        return path

    def requests(self) -> list[str]:
        """Every address the page has asked for, embedded ``data:`` ones aside."""
        urls = [
            str(event["params"]["request"]["url"])
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in urls if not url.startswith("data:")]

    def complaints(self) -> list[str]:
        """Console errors and warnings, uncaught exceptions and violations of the page's policy."""
        return [text for event in self.events if (text := _complaint(event))]


def _complaint(event: dict[str, Any]) -> str:
    method, parameters = event["method"], event["params"]
    if method == "Runtime.exceptionThrown":
        return json.dumps(parameters["exceptionDetails"])
    if method == "Runtime.consoleAPICalled" and parameters["type"] in (
        "error",
        "warning",
        "assert",
    ):
        return json.dumps(parameters["args"])
    if method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
        return str(parameters["entry"]["text"])
    return ""


def _write_all(descriptor: int, data: Sequence[int] | bytes) -> None:
    remaining = memoryview(bytes(data))
    while remaining:
        remaining = remaining[os.write(descriptor, remaining) :]
