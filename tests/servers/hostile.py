#!/usr/bin/python3
"""A web server that misbehaves on request: one small function for each behaviour.

The first part of the path names the behaviour, anything after a second slash or a
question mark is an argument.  Prints its port on stdout and serves until stdin closes,
so that it never outlives the test that started it.

    hostile.py [ADDRESS]

/count answers how many connections were accepted so far, /count-of/NAME how many
requests a behaviour has had.
"""
import email.utils
import gzip
import os
import random
import socket
import struct
import sys
import threading
import time

BEHAVIOURS = {}
counts = {}
accepted = 0


def behaviour(function):
    BEHAVIOURS[function.__name__.replace("_", "-")] = function
    return function


def answer(s, body=b"", status="200 OK", headers=(), length=True):
    lines = ["HTTP/1.1 " + status] + list(headers)
    if length:
        lines.append("Content-Length: %d" % len(body))
    s.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)


def until_gone(s, piece, pause):
    """Sends a piece again and again until the other side has had enough."""
    while True:
        s.sendall(piece)
        time.sleep(pause)


def wait_for_close(s):
    s.settimeout(30)
    while s.recv(4096):
        pass


# Well-behaved, for comparison.

@behaviour
def good(s, arg, request):
    answer(s, b"<p>good</p>\n", headers=["Content-Type: text/html"])
    return True


@behaviour
def good_then_close(s, arg, request):
    """Promises to keep the connection and does not."""
    answer(s, b"<p>good</p>\n", headers=["Connection: keep-alive"])


@behaviour
def slow_good(s, arg, request):
    time.sleep(0.05)
    answer(s, b"<p>good</p>\n")
    return True


@behaviour
def chunked(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
              b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nETag: \"trailer\"\r\n\r\n")
    return True


@behaviour
def until_close(s, arg, request):
    s.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>old</p>")


@behaviour
def gzipped(s, arg, request):
    answer(s, gzip.compress(b"<p>packed</p>" * 100), headers=["Content-Encoding: gzip"])
    return True


@behaviour
def gzip_members(s, arg, request):
    answer(s, gzip.compress(b"one ") + gzip.compress(b"two"), headers=["Content-Encoding: gzip"])


@behaviour
def gzip_empty(s, arg, request):
    answer(s, b"", headers=["Content-Encoding: gzip"])


@behaviour
def nuls(s, arg, request):
    answer(s, b"a\0b\0c")


@behaviour
def lying_type(s, arg, request):
    answer(s, b"\xff\xfe\x00 not a picture", headers=["Content-Type: image/png; charset=klingon"])


@behaviour
def echo_conditions(s, arg, request):
    wanted = (b"if-none-match", b"if-modified-since")
    lines = [l for l in request.split(b"\r\n") if l.split(b":")[0].lower() in wanted]
    answer(s, b"\n".join(sorted(lines)))


@behaviour
def echo(s, arg, request):
    answer(s, request)


@behaviour
def clock_behind(s, arg, request):
    """A server whose clock is a year late; it knows only its own dates."""
    date = "Sat, 15 Nov 2025 12:00:00 GMT"
    if b"if-modified-since: " + date.lower().encode() in request.lower():
        answer(s, status="304 Not Modified", headers=["Last-Modified: " + date], length=False)
    else:
        answer(s, b"late", headers=["Last-Modified: " + date, "Date: " + date])
    return True


@behaviour
def early_hints(s, arg, request):
    s.sendall(b"HTTP/1.1 103 Early Hints\r\nETag: \"hint\"\r\n\r\n")
    answer(s, b"after the hint")


@behaviour
def te_and_cl(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
              b"5\r\nhello\r\n0\r\n\r\n")


# Silence and slowness.

@behaviour
def silent(s, arg, request):
    wait_for_close(s)


@behaviour
def slow_headers(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    until_gone(s, b"a", 0.05)


@behaviour
def slow_body(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    until_gone(s, b"a", 0.05)


@behaviour
def stalled_body(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
    wait_for_close(s)


# Too much.

@behaviour
def endless_headers(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\n")
    until_gone(s, b"X-More: and more\r\n" * 100, 0)


@behaviour
def many_headers(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\n")
    for i in range(1000):
        s.sendall(b"".join(b"X-%d: y\r\n" % (100 * i + k) for k in range(100)))
    s.sendall(b"Content-Length: 2\r\n\r\nok")


@behaviour
def long_header(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 400000 + b"\r\nContent-Length: 2\r\n\r\nok")


@behaviour
def endless_interim(s, arg, request):
    until_gone(s, b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 10, 0)


@behaviour
def endless_body(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    until_gone(s, b"more and more " * 1000, 0)


@behaviour
def endless_chunks(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    until_gone(s, b"1000\r\n" + b"a" * 4096 + b"\r\n", 0)


@behaviour
def announced_huge(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nabc")
    wait_for_close(s)


@behaviour
def endless_error(s, arg, request):
    s.sendall(b"HTTP/1.1 500 Oops\r\n\r\n")
    until_gone(s, b"sorry " * 1000, 0)


@behaviour
def endless_redirect(s, arg, request):
    s.sendall(b"HTTP/1.1 302 Found\r\nLocation: /good\r\n\r\n")
    until_gone(s, b"moved " * 1000, 0)


@behaviour
def gzip_bomb(s, arg, request):
    answer(s, gzip.compress(b"\0" * (6 << 20)), headers=["Content-Encoding: gzip"])


@behaviour
def gzip_large(s, arg, request):
    answer(s, gzip.compress(os.urandom(20000) * 30), headers=["Content-Encoding: gzip"])


# Not what was announced.

@behaviour
def short_body(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n" + b"a" * 1000)


@behaviour
def empty_body(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n")


@behaviour
def cut_chunks(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nff\r\nabc")


@behaviour
def no_last_chunk(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")


@behaviour
def bad_chunk_size(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n")


@behaviour
def huge_chunk_size(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
              b"fffffffffffffffffffff\r\nhello\r\n0\r\n\r\n")


@behaviour
def two_lengths(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nhello")


@behaviour
def odd_length(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello")


def whole_response(kind):
    """A complete response in one of the framings; the body is always the same."""
    body = b"<p>every byte of this counts</p>" * 3
    packed = gzip.compress(body, mtime=0)
    chunks = lambda b: b"%x\r\n%s\r\n%x;x=1\r\n%s\r\n0\r\n\r\n" % (10, b[:10], len(b) - 10, b[10:])
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    return {
        "length": head + b"Content-Length: %d\r\n\r\n" % len(body) + body,
        "chunked": head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks(body),
        "gzip": head + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed,
        "gzip-chunked": head + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + chunks(packed),
        "gzip-close": head + b"Content-Encoding: gzip\r\n\r\n" + packed,
    }[kind]


@behaviour
def cut(s, arg, request):
    """/cut/KIND/N: the first N bytes of a response, then nothing."""
    kind, _, n = arg.partition("/")
    s.sendall(whole_response(kind)[:int(n)])


@behaviour
def damaged(s, arg, request):
    """/damaged/SEED: a response with some bytes changed, doubled, lost or moved."""
    dice = random.Random(int(arg))
    data = bytearray(whole_response(dice.choice(["length", "chunked", "gzip", "gzip-chunked"])))
    for _ in range(dice.choice([1, 1, 2, 5, 20])):
        at = dice.randrange(len(data))
        kind = dice.randrange(5)
        if kind == 0:
            data[at] = dice.randrange(256)
        elif kind == 1:
            data[at:at] = data[at:at + dice.randrange(40)]
        elif kind == 2:
            del data[at:at + dice.randrange(1, 20)]
        elif kind == 3:
            data[at:at] = dice.choice([b"\r\n", b"\0", b"0\r\n", b": ", b"HTTP/1.1 ", b"\xff" * 9])
        elif len(data) < 10000:
            data[at:] = data[at:] * dice.randrange(1, 40)
    for at in range(0, len(data), 100):
        s.sendall(data[at:at + 100])


@behaviour
def size_of(s, arg, request):
    answer(s, b"%d" % len(whole_response(arg)))


@behaviour
def gzip_in_gzip(s, arg, request):
    answer(s, gzip.compress(gzip.compress(b"x" * 1000)), headers=["Content-Encoding: gzip, gzip"])


@behaviour
def gzip_twice_named(s, arg, request):
    answer(s, gzip.compress(gzip.compress(b"x" * 1000)),
           headers=["Content-Encoding: gzip", "Content-Encoding: gzip"])


@behaviour
def gzip_transfer(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")


@behaviour
def unasked_encoding(s, arg, request):
    answer(s, b"hello", headers=["Content-Encoding: compress"])


@behaviour
def encoded(s, arg, request):
    """CODING/HEX: these very bytes."""
    coding, _, packed = arg.partition("/")
    answer(s, bytes.fromhex(packed), headers=["Content-Encoding: " + coding])
    return True


@behaviour
def not_gzip(s, arg, request):
    answer(s, b"this is plain text", headers=["Content-Encoding: gzip"])


@behaviour
def cut_gzip(s, arg, request):
    answer(s, gzip.compress(os.urandom(5000))[:3000], headers=["Content-Encoding: gzip"])


@behaviour
def gzip_bad_sum(s, arg, request):
    packed = bytearray(gzip.compress(b"hello"))
    packed[-8] ^= 1
    answer(s, bytes(packed), headers=["Content-Encoding: gzip"])


@behaviour
def reset_body(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n" + b"a" * 1000)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@behaviour
def reset_close_body(s, arg, request):
    s.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"a" * 1000)
    time.sleep(0.1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@behaviour
def reset_at_once(s, arg, request):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@behaviour
def close_at_once(s, arg, request):
    pass


@behaviour
def not_http(s, arg, request):
    s.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


@behaviour
def nul_header(s, arg, request):
    answer(s, b"x", headers=["X-Nul: a\0b"])


@behaviour
def garbage(s, arg, request):
    s.sendall(os.urandom(4096))


# Statuses.

@behaviour
def status(s, arg, request):
    headers = {"503": ["Retry-After: 120"], "429": ["Retry-After: soon"]}.get(arg[:3], [])
    answer(s, b"" if arg[:3] in ("204", "205", "304") else b"body", arg.replace("+", " "), headers,
           length=arg[:3] not in ("204", "304"))
    return True


@behaviour
def retry_date(s, arg, request):
    at = email.utils.formatdate(time.time() + 3600, usegmt=True)
    answer(s, b"busy", "503 Service Unavailable", ["Retry-After: " + at])


@behaviour
def retry_for_ever(s, arg, request):
    answer(s, b"busy", "429 Too Many Requests", ["Retry-After: 1000000000000"])


@behaviour
def partial(s, arg, request):
    answer(s, b"half", "206 Partial Content", ["Content-Range: bytes 0-3/8"])


# Validators.

@behaviour
def long_etag(s, arg, request):
    answer(s, b"x", headers=['ETag: "' + "a" * 5000 + '"', "Last-Modified: not a date at all"])


@behaviour
def odd_etag(s, arg, request):
    answer(s, b"x", headers=["etag:   W/\"\xe4 %s\" "])


# Redirects.

@behaviour
def redirect(s, arg, request):
    """/redirect/CODE/TARGET, the target taken as it is."""
    code, _, target = arg.partition("/")
    answer(s, b"moved", code + " Moved", ["Location: " + target])
    return True


@behaviour
def loop(s, arg, request):
    answer(s, b"again", "302 Found", ["Location: /loop"])
    return True


@behaviour
def hops(s, arg, request):
    n = int(arg)
    if n == 0:
        answer(s, b"arrived")
    else:
        answer(s, b"", "302 Found", ["Location: /hops/%d" % (n - 1)])
    return True


@behaviour
def no_location(s, arg, request):
    answer(s, b"lost", "302 Found")


# robots.txt, which is whatever the test said last: a text, or a status, or where to go.

robots = {"text": "", "status": "404 Not Found", "headers": []}


@behaviour
def robots_say(s, arg, request):
    """/robots-say/STATUS/TEXT: %0A is a line end, a 3xx goes where the text says."""
    status, _, text = arg.partition("/")
    robots["status"] = status + " As You Said"
    robots["headers"] = ["Location: " + text] if status.startswith("3") else []
    robots["text"] = text.replace("%0A", "\n").replace("%20", " ")
    answer(s, b"noted")
    return True


@behaviour
def robots_without_end(s, arg, request):
    robots["status"] = "endless"
    answer(s, b"noted")
    return True


def robots_txt(s, arg, request):
    if robots["status"] == "endless":
        s.sendall(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /hops\n")
        until_gone(s, b"# and so on\n" * 5000, 0)
    answer(s, robots["text"].encode(), robots["status"], robots["headers"])
    return True


BEHAVIOURS["robots.txt"] = robots_txt


# Requests that are more than a GET.

@behaviour
def echo_whole(s, arg, request):
    """The request with its body."""
    head, _, body = request.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            while len(body) < int(line.split(b":")[1]):
                body += s.recv(4096)
    answer(s, head + b"\r\n\r\n" + body)


@behaviour
def proxied(s, arg, request):
    answer(s, b"by proxy: " + request.split(b" ")[1])
    return True


@behaviour
def set_cookie(s, arg, request):
    answer(s, b"set", headers=["Set-Cookie: " + arg])
    return True


# How politely we were asked.

politeness = {"now": 0, "most": 0}


@behaviour
def measured(s, arg, request):
    politeness["now"] += 1
    politeness["most"] = max(politeness["most"], politeness["now"])
    time.sleep(0.002)
    politeness["now"] -= 1
    answer(s, b"<p>good</p>\n")
    return True


@behaviour
def most_at_once(s, arg, request):
    answer(s, b"%d" % politeness["most"])


# What a server still says when it has said everything.

def framed(body, framing):
    if framing == "chunked":
        return (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
    if framing == "empty":
        body = b""
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


@behaviour
def and_more(s, arg, request):
    """FRAMING/EXTRA/WHEN: an honest page and then something unasked; WHEN it is sent: at once,
    later, or as soon as the next request is there, before its answer."""
    framing, extra, when = arg.split("/")
    more = {"garbage": b"\x00\xffgarbage\r\n\r\n" * 20,
            "text": b"and so on and so on\r\n",
            "response": framed(b"<p>not yours</p>\n", "length")}[extra]
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    page = framed(b"<p>first</p>\n", framing)
    if when == "at-once":
        s.sendall(page + more)
    elif when == "later":
        s.sendall(page)
        time.sleep(0.02)
        s.sendall(more)
    else:
        s.sendall(page)
        if not read_request(s):
            return False
        s.sendall(more)
        time.sleep(0.02)
        s.sendall(framed(b"<p>good</p>\n", "length"))
    return True


# Questions of the tests themselves.

@behaviour
def count(s, arg, request):
    answer(s, b"%d" % accepted)


@behaviour
def count_of(s, arg, request):
    answer(s, b"%d" % counts.get(arg, 0))


def read_request(s):
    data = b""
    while b"\r\n\r\n" not in data:
        more = s.recv(4096)
        if not more:
            return None
        data += more
    return data


def serve(s):
    try:
        while True:
            request = read_request(s)
            if not request:
                break
            target = request.split(b" ")[1].decode("latin-1")
            if target.startswith("http://"):  # somebody takes us for a proxy
                target = "/proxied"
            name, _, arg = target[1:].partition("/")
            counts[name] = counts.get(name, 0) + 1
            run = BEHAVIOURS.get(name, lambda s, arg, r: answer(s, b"no", "404 Not Found"))
            if not run(s, arg, request):
                break
    except (OSError, ValueError):
        pass
    finally:
        s.close()


def accept_all(listener):
    global accepted
    while True:
        s, _ = listener.accept()
        accepted += 1
        threading.Thread(target=serve, args=(s,), daemon=True).start()


def main():
    address = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1"
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, 0))
    listener.listen(1024)
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=accept_all, args=(listener,), daemon=True).start()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
