"""Attack texts on their way into the benchmark's YAML templates.

The benchmark pastes a text between the quotes of a double-quoted YAML scalar. A
quotation mark ends the scalar, a backslash starts an escape, control characters
are refused, and a line of dashes or dots ends the document. These are escaped, so
that the scalar's value holds them. Line breaks are left to YAML's folding as the
benchmark leaves them: recorded runs were made with folded texts.
"""

import re

# What PyYAML's reader refuses, and the line breaks beyond \n (which YAML folds).
_SPECIAL = re.compile("[\"\\\\]|[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_DOCUMENT_MARK = re.compile(r"(^|\n)([-.])(?=\2\2(?:[\s]|$))")


def _escape(match):
    char = match.group()
    if char in '"\\':
        return "\\" + char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escape(text):
    """`text` as it must be pasted into a double-quoted YAML scalar."""
    text = _SPECIAL.sub(_escape, text)
    return _DOCUMENT_MARK.sub(lambda m: f"{m.group(1)}\\x{ord(m.group(2)):02x}", text)
