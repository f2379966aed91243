"""Mends what the tools leave in the pages: roles of docstrings, and escapes in tables."""

from __future__ import annotations

import re

_ROLE = re.compile(r":(?:func|class|mod|meth|data|attr|exc):<code>[~.]?([^<]+)</code>")
_CELL = re.compile(r"<td.*?</td>", re.DOTALL)


def on_page_content(html: str, **_: object) -> str:
    """Leave the name of roles such as ``:func:``, which only Sphinx reads, and the bar of GitHub's ``\\|`` in code."""
    return _CELL.sub(lambda cell: cell[0].replace("\\|", "|"), _ROLE.sub(r"<code>\1</code>", html))
