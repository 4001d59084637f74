"""Those who are told: a webhook receiver and a real mail server, both on loopback.

Both keep what they accepted, and both can be told how to answer.
"""
import contextlib
import email
import email.policy
import http.server
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

# Debian's packages, also when another python3 comes first on the path.
sys.path.append("/usr/lib/python3/dist-packages")
import logging
import warnings

warnings.simplefilter("ignore")
logging.getLogger("mail.log").setLevel(logging.CRITICAL)
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult


class Hook:
    """Accepts POST and PUT.  `answers` is a list of (status, headers) or functions of the
    handler to be used up first; afterwards everything is accepted.  A body that is shorter
    than announced is refused, as every receiver should."""

    def __init__(self, answers=(), tls=None):
        self.answers = list(answers)
        self.got = []  # (path, headers, body), accepted or not
        self.accepted = []
        self.lock = threading.Lock()
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def take(self):
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length)
                if len(body) != length:
                    self.close_connection = True
                    return
                entry = (self.path, dict(self.headers), body)
                with hook.lock:
                    hook.got.append(entry)
                    answer = hook.answers.pop(0) if hook.answers else (200, {})
                if callable(answer):
                    answer(self, entry)
                    return
                status, headers = answer
                if status < 300:
                    with hook.lock:
                        hook.accepted.append(entry)
                self.reply(status, headers)

            do_POST = do_PUT = take

            def reply(self, status, headers=None):
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *args):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exc):
        self.server.shutdown()
        self.server.server_close()

    def bodies(self):
        with self.lock:
            return [json.loads(body) for _, _, body in self.accepted]

    def keys(self):
        with self.lock:
            return [headers["Idempotency-Key"] for _, headers, _ in self.got]


class Moody:
    """Answers without end for a Hook: one in so many is a refusal that asks to come back."""

    def __init__(self, dice, one_in):
        self.dice, self.one_in, self.refused = dice, one_in, 0

    def __bool__(self):
        return True

    def pop(self, _):
        if self.dice.randrange(self.one_in):
            return 200, {}
        self.refused += 1
        return 503, {"Retry-After": "1"}


class Authority:
    """A certificate authority of the test's own: `ca` is the file that vouches for what it signs."""

    def __init__(self):
        self.home = tempfile.TemporaryDirectory(prefix="vm-")
        self.ca = self.file("ca.pem")
        self.openssl("req", "-x509", *self.KEY, "-days", "2", "-subj", "/CN=test authority",
                     "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", self.file("ca.key"),
                     "-out", self.ca)

    KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    def file(self, name):
        return os.path.join(self.home.name, name)

    def openssl(self, *words):
        subprocess.run(["openssl", *words], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def context(self, name="IP:127.0.0.1", days=2):
        """What a server needs; by default for the address all of them listen on."""
        key, request, cert = map(self.file, ("key.pem", "request", "cert.pem"))
        with open(self.file("names"), "w") as f:
            f.write(f"subjectAltName={name}\n")
        self.openssl("req", *self.KEY, "-subj", "/CN=server", "-keyout", key, "-out", request)
        self.openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.file("ca.key"),
                     "-CAcreateserial", "-days", str(days), "-extfile", self.file("names"), "-out", cert)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        return context


class Mails:
    """aiosmtpd, with AUTH when asked for; `tls` is a context for STARTTLS, `smtps` one for TLS
    from the first byte."""

    def __init__(self, replies=(), user=None, password=None, tls=None, smtps=None):
        self.mails, self.tried, self.peers = [], 0, set()
        self.replies = list(replies)
        self.lock = threading.Lock()
        self.logins = []
        mails = self

        class Handler:
            async def handle_DATA(self, server, session, envelope):
                with mails.lock:
                    mails.tried += 1
                    mails.peers.add(session.peer)
                    reply = mails.replies.pop(0) if mails.replies else "250 kept"
                    if reply.startswith("250"):
                        mails.mails.append(envelope)
                return reply

        def login(server, session, envelope, mechanism, data):
            mails.logins.append((mechanism, data.login, data.password, session.ssl is not None))
            right = (data.login, data.password) == (user.encode(), password.encode())
            return AuthResult(success=right, handled=False)

        options = {}
        if tls:
            options.update(tls_context=tls, require_starttls=True)
        if smtps:
            options["ssl_context"] = smtps
        if user:
            options.update(authenticator=login, auth_required=True,
                           auth_require_tls=bool(tls))
        with contextlib.closing(socket.socket()) as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.controller = Controller(Handler(), hostname="127.0.0.1", port=self.port, **options)
        self.url = f"{'smtps' if smtps else 'smtp'}://127.0.0.1:{self.port}"

    def __enter__(self):
        self.controller.start()
        return self

    def __exit__(self, *exc):
        self.controller.stop()

    def messages(self):
        with self.lock:
            return [email.message_from_bytes(e.original_content or e.content,
                                             policy=email.policy.default) for e in self.mails]
