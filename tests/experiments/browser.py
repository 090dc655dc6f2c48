"""Drive a headless Chromium through its debugging pipe, with the standard library alone.

Messages of the Chrome DevTools Protocol are JSON documents that end in a NUL byte; the browser
reads them from file descriptor 3 and answers on 4.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

CANDIDATES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
    *("--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-pipe"),
)
PATIENCE_SECONDS = 30.0


def find_browser() -> str | None:
    """The path of an installed Chromium or Chrome, if any."""
    return next((path for name in CANDIDATES if (path := shutil.which(name))), None)


class Browser:
    """One page in one browser process; a context manager. ``events``: what the page has sent."""

    def __init__(self, executable: str) -> None:
        self.events: list[dict[str, Any]] = []
        self._answers: dict[int, dict[str, Any]] = {}
        self._buffer, self._last_id, self._session = b"", 0, ""
        self._profile = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        # The shell moves the two ends to the descriptors that the browser expects.
        script = f'exec "$0" "$@" 3<&{commands} 4>&{answers}'
        profile = f"--user-data-dir={self._profile.name}"
        self._process = subprocess.Popen(
            ["bash", "-c", script, executable, *FLAGS, profile],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(commands)
        os.close(answers)

    def __enter__(self) -> "Browser":
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        return self

    def __exit__(self, *problem: object) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)  # the browser is a group of processes
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command of the protocol and return its result."""
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        remaining = memoryview(json.dumps(message).encode() + b"\0")
        while remaining:
            remaining = remaining[os.write(self._to, remaining) :]
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._last_id not in self._answers:
            self._receive(deadline)
        answer = self._answers.pop(self._last_id)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return dict(answer["result"])

    def _receive(self, deadline: float) -> None:
        ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
        data = os.read(self._from, 1 << 20) if ready else b""
        if not data:
            raise RuntimeError("the browser is silent or has ended")
        *complete, self._buffer = (self._buffer + data).split(b"\0")
        for message in map(json.loads, complete):
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self.events.append(message)

    def open(self, path: Path, width: int = 1200, height: int = 900, scheme: str = "light") -> None:
        """Load a file in a window of a size, as on a system that prefers light or dark."""
        mobile = width < 600
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=features)
        self.events.clear()
        self.send("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._receive(deadline)

    def run(self, script: str) -> Any:
        """Evaluate JavaScript in the page; promises are awaited, exceptions raised here."""
        answer = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def settle(self) -> None:
        """Wait until what was asked for has happened and is painted."""
        frame = "new Promise(done => requestAnimationFrame(() => setTimeout(done, 20)))"
        self.run(f"{frame}.then(() => {frame})")

    def unfold(self, selector: str) -> None:
        self.run(f"document.querySelector({json.dumps(selector)}).open = true")
        self.settle()

    def click(self, selector: str) -> None:
        """A real click in the middle of an element."""
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2] })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def press(self, key: str) -> None:
        """Press a key by its name: ``Tab``, ``Enter``, ``ArrowDown``."""
        code = {"Enter": 13, "Tab": 9, "Escape": 27}.get(key, 0)
        text = "\r" if key == "Enter" else ""
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if kind == "keyDown" else {}
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more
            )
        self.settle()

    def requests(self) -> list[str]:
        """Every address the page has asked for, embedded ones aside."""
        sent = [e for e in self.events if e["method"] == "Network.requestWillBeSent"]
        urls = [str(event["params"]["request"]["url"]) for event in sent]
        return [url for url in urls if not url.startswith("data:")]

    def complaints(self) -> list[str]:
        """Uncaught exceptions, errors on the console and violations of the page's policy."""
        levels = ("error", "warning")
        return [
            json.dumps(event["params"])
            for event in self.events
            if event["method"] == "Runtime.exceptionThrown"
            or (event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] in levels)
        ]
