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


class ServeError(Exception):
    """The folder cannot be served on this port. The message is one line that says what happened and what to do."""


def port_number(text):
    """Return the port as a number; for 0 the system chooses a free port. Raise ServeError if the text is not a port number."""
    if not re.match("[0-9]{1,5}$", text) or int(text) > 65535:
        raise ServeError("PORT=%s is not a port. Give a number up to 65535: make serve PORT=8001" % text)
    return int(text)


def require_free(port):
    """Raise ServeError unless the port is free."""
    probe = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # like the server, so that a port that was just released counts as free
        probe.bind((HOST, port))
    except (IOError, OSError) as error:
        raise port_error(port, error)
    finally:
        probe.close()


def port_error(port, error):
    """Return the error that explains why the system does not allow the port."""
    if error.errno == errno.EADDRINUSE:
        problem = "port %d is in use" % port
        other = port + 1 if port < 65535 else 8000
    elif error.errno in (errno.EACCES, errno.EPERM):
        problem = "port %d is reserved for the system" % port
        other = 8000
    else:
        problem = "port %d cannot be used (%s)" % (port, error.strerror)
        other = 8000
    return ServeError("%s. Stop the program that uses it, or choose another port: make serve PORT=%d" % (problem, other))


def serve(port, folder):
    """Serve a folder until interrupted. Raise ServeError if the port cannot be used."""
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
        raise port_error(port, error)
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
    except ServeError as error:
        print("serve: %s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
