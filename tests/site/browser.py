"""A browser that a test drives as a reader does: with real keys and a real mouse, at any width, with JavaScript or without.

It speaks Chromium's DevTools protocol over a pair of pipes, which needs no package: each message is JSON, and ends with a zero byte.
"""

import base64
import itertools
import json
import os
import subprocess
from contextlib import contextmanager

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
KEYS = {
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "Tab": 9,
    "Home": 36,
    "End": 35,
    "Space": 32,
    "Enter": 13,
    "Backspace": 8,
}
TEXT = {"Space": " ", "Enter": "\r"}


class Browser:
    """One page of a browser."""

    def __init__(self, write: int, read: int):
        self._write, self._read, self._rest = write, read, b""
        self._numbers, self._session, self._events = itertools.count(1), None, []
        target = self._tell("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._tell("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._tell("Page.enable")

    def _message(self) -> dict:
        while b"\0" not in self._rest:
            came = os.read(self._read, 1 << 20)
            if not came:
                raise RuntimeError("the browser ended")
            self._rest += came
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _tell(self, method: str, **parameters) -> dict:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": self._session} if self._session else {})
        left = json.dumps(message).encode() + b"\0"
        while left:
            left = left[os.write(self._write, left) :]
        while (answer := self._message()).get("id") != number:
            self._events.append(answer.get("method"))
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def look(self, width: int = 1300, height: int = 900, dark: bool = False, script: bool = True) -> None:
        """How the pages that are opened from now on are seen."""
        self._tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self._tell("Emulation.setScriptExecutionDisabled", value=not script)

    def open(self, address: str) -> None:
        """Go there, and come back when all that the page itself asks for is loaded."""
        self._events.clear()
        self._tell("Page.navigate", url=address)
        while "Page.loadEventFired" not in self._events:
            self._events.append(self._message().get("method"))

    def run(self, script: str):
        """What an expression is; a promise is waited for."""
        answer = self._tell("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            said = answer["exceptionDetails"]
            raise RuntimeError(said.get("exception", {}).get("description", said["text"]))
        return answer["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until a condition holds, looked at before each frame; after 3,000 of them it does not."""
        self.run(
            "new Promise((done, fail) => { let left = 3000; const look = () => { "
            f"if ({condition}) done(); else if (left--) requestAnimationFrame(look); else fail(Error({json.dumps(condition)})); }}; look(); }})"
        )

    def press(self, key: str, times: int = 1, shift: bool = False) -> None:
        """A key that has a name, or a character."""
        code = KEYS.get(key, ord(key[0].upper()))
        named = TEXT.get(key, key)
        about = {"key": named, "code": key if key in KEYS else "", "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        text = {"text": TEXT.get(key, key)} if key in TEXT or key not in KEYS else {}
        for _ in range(times):
            self._tell("Input.dispatchKeyEvent", type="keyDown", **about, **text)
            self._tell("Input.dispatchKeyEvent", type="keyUp", **about)

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self._tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, **clip) -> bytes:
        """A PNG of the page, or of a part of it: x, y, width, height."""
        part = {"clip": clip | {"scale": 1}, "captureBeyondViewport": True} if clip else {}
        return base64.b64decode(self._tell("Page.captureScreenshot", format="png", **part)["data"])


@contextmanager
def started(program: str, folder):
    """A browser that has nothing of anybody's; it ends with the block."""
    (asks, tells), (hears, answers) = os.pipe(), os.pipe()
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars", f"--user-data-dir={folder}"]
    # The browser reads from 3 and writes to 4, whatever numbers the pipes have here.
    command = f'exec "$@" --remote-debugging-pipe 3<&{asks} 4>&{answers}'
    running = subprocess.Popen(
        ["bash", "-c", command, "-", program, *options], pass_fds=(asks, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(asks)
    os.close(answers)
    try:
        yield Browser(tells, hears)
    finally:
        running.terminate()
        running.wait()
        os.close(tells)
        os.close(hears)
