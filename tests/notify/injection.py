#!/usr/bin/env python3
"""Writes injection.golden: what hostile text must come out as, by rules of its own.

Each line holds a payload and what each sink makes of it, all in hexadecimal, in the order of
SINKS.  The rules are Python's (html.escape, json, base64, unicodedata), not Vigil's, so that
the two can disagree.
"""
import base64
import email.header
import html
import json
import unicodedata

PAYLOADS = [
    "\r\nBcc: eve@example.org", "\nX-Evil: 1", "\r", "\n.\r\n", "\r\n\r\n<html>", "a\x00b", "\x01\x02",
    "<script>alert(1)</script>", "</title><script>", "<img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)", "' onclick='alert(1)", "javascript:alert(1)",
    "<a href=javascript:alert(1)>x</a>", "<!--", "-->", "]]>", "<![CDATA[", "&lt;", "&#60;", "&amp;lt;",
    "</td></tr></table>", "<svg/onload=alert(1)>", "<style>*{display:none}</style>", "<base href=//x>",
    "<meta http-equiv=refresh content=0>", "\u202egnp.exe", "\u2066x\u2069", "\u200e\u200f", "\u061c",
    "\u2028\u2029", "\ufeff", "{{7*7}}", "${7*7}", "{title}", "{text}{link}", "{change}", "%s%n%x", "$(id)",
    "`id`", "; rm -rf /", "| id", "'; DROP TABLE vigil_kb.change; --", "\\'; --", "$$; DROP", "\\", "\\\\",
    "\\u0000", "=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\x1b[2J\x1b[31m", "\x1b]0;title\x07",
    "\x08\x08\x08", "\x7f", "\x9b31m", "\u0085", "a" * 300, "\U0001f600 emoji", "Zo\u0308e", "=?UTF-8?B?eA==?=",
    "\"\"\"'''", "\udc80 is no text", "<!channel> <@U1> <http://evil.example/|bank>", "@everyone @here",
    "[bank](http://evil.example/a_b)", "**b** __u__ ~~s~~ ||spoiler|| # head", "see http://x.org/a_b(c)*d now",
    "- item", "ends in a space ", "x" * 70 + " " + "y" * 5 + " " + "z" * 5,
]
ODD = set(range(0x20)) | set(range(0x7F, 0xA0)) | set(range(0x202A, 0x202F)) | set(range(0x2066, 0x206A))
ODD |= {0x200E, 0x200F, 0x061C, 0x2028, 0x2029, 0xFEFF} | set(range(0xFFF9, 0xFFFC))


def is_surrogate(c):
    """How Python keeps a byte that is no UTF-8."""
    return 0xD800 <= ord(c) < 0xE000


def plain(text):
    """What a terminal or a text mail may show."""
    return "".join(" " if c in "\t\n\r" else "\ufffd" if ord(c) in ODD or is_surrogate(c) else c
                   for c in text)


def as_html(text):
    return html.escape(plain(text), quote=True).replace("&#x27;", "&#39;")


def inside_json(text):
    """Quotes, backslashes, newline and tab by their short names, other controls by number."""
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    text = "".join("\ufffd" if is_surrogate(c) else c for c in text)
    out = "".join(short.get(c) or (f"\\u{ord(c):04x}" if unicodedata.category(c) == "Cc" else c)
                  for c in text)
    assert json.loads(f'"{out}"') == text
    return out


def chat(text):
    """Services that show text as it is."""
    return inside_json(plain(text))


def entities(text):
    """Slack's own rule: these three, and nothing else."""
    return inside_json(plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def markdown(text, first):
    """Discord: a backslash before what would be a format; addresses stay whole enough to follow.
    A dash or a plus makes a list only where it is the first thing in its line."""
    out, words = "", plain(text).split(" ")
    for i, word in enumerate(words):
        url = word.lower().find("http://")
        for k, c in enumerate(word):
            odd = c in "\\`*|<>[]" or (c in "_~#()" and not 0 <= url <= k)
            starts = first and k == 0 and not any(words[:i])
            out += ("\\" if odd or (starts and c in "-+") else "") + c
        out += " " if i + 1 < len(words) else ""
    return inside_json(out)


def subject(text):
    """RFC 2047 in lines of 76 columns when it must be, else folded between words."""
    text = plain(f"s: has ended ({text})")[:400].strip()
    name = "Subject: "
    if text.isascii() and "=?" not in text and max(map(len, text.split(" "))) <= 56:
        lines = [name.strip()]
        for word in text.split(" "):
            if len(lines[-1]) + 1 + len(word) > 76 and len(lines[-1]) > len("Subject:"):
                lines.append("")
            lines[-1] += " " + word
        folded = "\r\n".join(lines)
        assert folded.replace("\r\n", "") == name + text
        return folded
    lines, used, chunk = [], len(name), b""
    for c in text + "\0":
        room = (76 - 12 - used) // 4 * 3
        if c == "\0" or len(chunk) + len(c.encode()) > room:
            lines.append(f"=?UTF-8?B?{base64.b64encode(chunk).decode()}?=")
            used, chunk = 1, b""
        chunk += c.encode()
    folded = name + "\r\n ".join(lines)
    decoded = email.header.decode_header(folded[len(name):].replace("\r\n", ""))
    assert b"".join(part for part, _ in decoded).decode() == text
    return folded


def log(text):
    """The bytes of whatever is not harmless, by their numbers."""
    return "".join(c if ord(c) not in ODD and not is_surrogate(c) else
                   "".join(f"\\x{b:02x}" for b in c.encode("utf-8", "surrogateescape")) for c in text)


SINKS = [as_html, plain, inside_json, chat, entities, lambda t: markdown(t, False),
         lambda t: markdown(t, True), subject, log]


def main():
    assert len(PAYLOADS) >= 64, len(PAYLOADS)
    for payload in PAYLOADS:
        seen = payload.split("\0")[0]  # a C string ends there
        print(*(b.hex() or "-" for b in [seen.encode("utf-8", "surrogateescape"),
                                         *(sink(seen).encode() for sink in SINKS)]))


if __name__ == "__main__":
    main()
