"""Serve a folder on the local host.

    python .ci/serve.py PORT           only check that PORT is free
    python .ci/serve.py PORT FOLDER    serve FOLDER there until Ctrl-C

Like setup.py, this file must parse under a Python that is too old, since the port is checked before anything else.
"""

from __future__ import print_function

import errno
import functools
import re
import socket
import sys

HOST = "127.0.0.1"


class Refused(Exception):
    """The folder cannot be served on this port. The message is one line that says what happened and what to do."""


def port_number(text):
    """Return the port as a number; for 0 the system chooses a free port. Raise Refused if the text is not a port number."""
    if not re.match("[0-9]{1,5}$", text) or int(text) > 65535:
        raise Refused("PORT=%s is no port. Give a number up to 65535: make serve PORT=8001" % text)
    return int(text)


def require_free(port):
    """Raise Refused unless the port is free."""
    probe = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does: a port that was just released is free
        probe.bind((HOST, port))
    except (IOError, OSError) as error:
        raise refusal(port, error)
    finally:
        probe.close()


def refusal(port, error):
    """Return the error to raise if the system refuses a port."""
    if error.errno == errno.EADDRINUSE:
        what = "port %d is in use" % port
        other = port + 1 if port < 65535 else 8000
    elif error.errno in (errno.EACCES, errno.EPERM):
        what = "port %d is the system's" % port
        other = 8000
    else:
        what = "port %d cannot be used (%s)" % (port, error.strerror)
        other = 8000
    return Refused("%s. Stop what holds it, or take another: make serve PORT=%d" % (what, other))


def serve(port, folder):
    """Serve a folder until interrupted. Raise Refused if the port cannot be used."""
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    class Handler(SimpleHTTPRequestHandler):
        def end_headers(self):
            self.send_header("Cache-Control", "no-cache")  # so that browsers show a rebuilt page at once
            SimpleHTTPRequestHandler.end_headers(self)

        def log_request(self, code="-", size="-"):
            """Do not log successful requests; errors are still logged."""

    try:
        server = ThreadingHTTPServer((HOST, port), functools.partial(Handler, directory=folder))
    except OSError as error:
        raise refusal(port, error)
    with server:
        print("Serving on http://%s:%d/ (Ctrl-C stops it)" % (HOST, server.server_port), flush=True)
        server.serve_forever()


def main(arguments):
    try:
        port = port_number(arguments[0])
        if len(arguments) == 1:
            require_free(port)
        else:
            serve(port, arguments[1])
    except Refused as reason:
        print("serve: %s" % reason, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
