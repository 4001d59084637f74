#!/usr/bin/env python3
"""Writes injection.golden: what hostile text must come out as, by rules of its own.

Each line: the payload, then as HTML, as plain text, as the inside of a JSON string; all in
hexadecimal.  The rules are Python's (html.escape, json, unicodedata), not Vigil's, so that the
two can disagree.
"""
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
    "\"\"\"'''", "\udc80 is no text",
]
ODD = set(range(0x20)) | set(range(0x7F, 0xA0)) | set(range(0x202A, 0x202F)) | set(range(0x2066, 0x206A))
ODD |= {0x200E, 0x200F, 0x061C, 0x2028, 0x2029, 0xFEFF} | set(range(0xFFF9, 0xFFFC))


def plain(payload):
    """What a terminal or a text mail may show."""
    out = ""
    for c in payload:
        if c in "\t\n\r":
            out += " "
        elif ord(c) in ODD or 0xD800 <= ord(c) < 0xE000:
            out += "\ufffd"
        else:
            out += c
    return out


def inside_json(text):
    """Quotes, backslashes, newline and tab by their short names, other controls by number."""
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    out = "".join(short.get(c) or (f"\\u{ord(c):04x}" if unicodedata.category(c) == "Cc" else c)
                  for c in text)
    assert json.loads(f'"{out}"') == text
    return out


def for_c(payload):
    """A C string ends at NUL; bytes that are no UTF-8 come as they are."""
    return payload.split("\0")[0].encode("utf-8", "surrogateescape")


def main():
    assert len(PAYLOADS) >= 64, len(PAYLOADS)
    for payload in PAYLOADS:
        seen = payload.split("\0")[0]
        text = plain(seen)
        escaped = html.escape(text, quote=True).replace("&#x27;", "&#39;")
        repaired = "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in seen)
        inside = inside_json(repaired)
        print(*(b.hex() or "-" for b in (for_c(payload), escaped.encode(), text.encode(),
                                         inside.encode())))


main()
