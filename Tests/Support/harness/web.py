"""Starts livehost-web and sends it requests as a browser or another program does."""
import contextlib
import http.client
import json
import re
import socket
import ssl
import subprocess

from harness.programs import Program
from harness.waiting import PATIENCE


class Page(Program):
    """livehost-web, started through livehostctl or, with options, directly.
    The initialiser waits for the printed links."""

    # Clients of a page with TLS trust these authorities.
    trust = None

    def __init__(self, daemon, *options, port=0, environment=None):
        command = ([daemon.programs / "livehost-web", "--socket", daemon.control, "--json", *options] if options
                   else [daemon.programs / "livehostctl", "--socket", daemon.control, "--json=short", "web"])
        super().__init__([*command, "--port", port], daemon.directory / "web.log", environment,
                         stdout=subprocess.PIPE, text=True)
        links = json.loads(self.output.readline())
        self.link = links["page"]
        self.reading = links["overlay"].rsplit("t=", 1)[1]
        self.base, self.token = re.fullmatch(
            r"(https?://127\.0\.0\.1:\d+)/#t=([0-9a-f]{64})", self.link).groups()
        self.port = int(self.base.rsplit(":", 1)[1])

    def connection(self):
        if not self.trust:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        context = ssl.create_default_context(cafile=self.trust)
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE, context=context)

    def request(self, method, path, headers=None, body=None, token=None):
        """Returns the status, the headers and the body of a reply. The body of an endless stream is omitted."""
        with contextlib.closing(self.connection()) as connection:
            connection.request(method, path, body, {**(headers or {}), **({"X-Livehost-Token": token} if token else {})})
            reply = connection.getresponse()
            is_stream = reply.headers.get_content_type() == "text/event-stream"
            return reply.status, reply.headers, b"" if is_stream else reply.read()

    def call(self, method, parameters=None, token=None, content_type="application/json"):
        """Calls a method of the daemon. Returns the status and the decoded reply."""
        status, _, body = self.request(
            "POST", f"/api/call/{method}", {"Content-Type": content_type}, json.dumps(parameters or {}),
            self.token if token is None else token)
        return status, json.loads(body)

    def begin(self, text, receive_buffer=1 << 17):
        """Opens a connection and sends a text, with HOST replaced by the address of livehost-web."""
        client = socket.socket()
        client.settimeout(PATIENCE)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.connect(("127.0.0.1", self.port))
        client.sendall(text.replace("HOST", f"127.0.0.1:{self.port}").replace("\n", "\r\n").encode("latin-1"))
        return client

    def raw(self, text):
        """Returns the reply to bytes that no client library would send."""
        reply = b""
        with self.begin(text) as client, contextlib.suppress(ConnectionError):
            while piece := client.recv(65_536):
                reply += piece
        return reply

    def events(self, room="main", query="", token=None):
        """Opens a connection to the stream of a room. Returns the connection and the reply."""
        connection = self.connection()
        connection.request(
            "GET", f"/api/rooms/{room}/events{query}", headers={"X-Livehost-Token": token or self.reading})
        return connection, connection.getresponse()

    def status(self):
        return json.loads(self.request("GET", "/api/status", token=self.reading)[2])
