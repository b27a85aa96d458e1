#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the string literals of C sources, one per line: FILE:LINE: TEXT.

Literals next to each other are one string, also with a macro such as PRIu64 between them (shown
as %). Comments, #include lines and single characters are left out.
"""
import re
import sys

TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)'
    r'|(?P<include>^[ \t]*#[ \t]*include[^\n]*)'
    r"|(?P<char>'(?:\\.|[^'\\\n])+')"
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r'|(?P<macro>\bPRI\w+\b)'
    r'|(?P<splice>\\\n)'
    r'|(?P<space>\s+)'
    r'|(?P<other>\w+|.)',
    re.S | re.M)


def strings(text):
    """Yields (line, text) of each string."""
    start, parts = 0, []
    for match in TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == 'string':
            if not parts:
                start = text.count('\n', 0, match.start()) + 1
            parts.append(match.group()[1:-1])
        elif kind == 'macro' and parts:
            parts.append('%')
        elif kind in ('char', 'other', 'include') and parts:
            yield start, ''.join(parts)
            parts = []
    if parts:
        yield start, ''.join(parts)


for path in sys.argv[1:]:
    with open(path, encoding='utf-8') as file:
        for line, string in strings(file.read()):
            print(f'{path}:{line}: {string}')
