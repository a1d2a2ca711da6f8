"""A browser's tab, driven through its own protocol over two pipes: real keys, and each request that a page makes."""

import json
import os
import subprocess
import sys

# The browser reads commands at 3 and writes at 4; a Python of its own puts them there.
START = """import fcntl, os, sys
read, write = (fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3])
os.dup2(read, 3), os.dup2(write, 4)
os.execvp(sys.argv[3], sys.argv[3:])"""
CODES = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "Tab": 9}


class Tab:
    def __init__(self, browser, folder):
        theirs_in, self.out = os.pipe()
        self.answers, theirs_out = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={folder}"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, str(theirs_in), str(theirs_out), browser, *options, "about:blank"],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.number, self.unread, self.session, self.events = 0, b"", None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.out)
        os.close(self.answers)

    def call(self, method, **params):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params} | ({"sessionId": self.session} if self.session else {})
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            self.events.append(answer)

    def read(self):
        while b"\0" not in self.unread:
            more = os.read(self.answers, 1 << 16)
            assert more, "the browser ended"
            self.unread += more
        message, _, self.unread = self.unread.partition(b"\0")
        return json.loads(message)

    def go(self, address):
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())

    def ask(self, script):
        """What the script comes to, once it is settled."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def until(self, condition):
        """Frame by frame, until it holds."""
        return self.ask(f"(async () => {{ while (!({condition})) await new Promise(requestAnimationFrame); return {condition}; }})()")

    def press(self, key):
        more = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        more["windowsVirtualKeyCode"] = CODES.get(key, ord(key[0].upper()))
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=more["windowsVirtualKeyCode"])

    def type(self, text):
        self.call("Input.insertText", text=text)

    def requested(self):
        """The addresses that were asked for since the last page was gone to."""
        return [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
