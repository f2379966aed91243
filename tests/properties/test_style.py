"""Sizes that keep the sources readable: docs/development.md."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*(ROOT / "wepl").rglob("*.py"), *(ROOT / "kernels").rglob("*.py")])
MODULE_LINES, FUNCTION_LINES = 400, 60
# A table of one entry per variable: it has no seam at which to cut it.
TABLES = {"wepl/registry/variables.py"}


def test_modules_are_short():
    long = {path.relative_to(ROOT).as_posix(): lines for path in SOURCES
            if (lines := len(path.read_text(encoding="utf-8").splitlines())) >= MODULE_LINES}
    assert {name: lines for name, lines in long.items() if name not in TABLES} == {}


def code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function from its signature to its end, without its docstring."""
    first = node.body[0]
    is_docstring = ast.get_docstring(node) is not None
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if is_docstring else 0
    return (node.end_lineno or node.lineno) - node.lineno + 1 - docstring


def test_functions_are_short():
    long = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and code_lines(node) >= FUNCTION_LINES:
                long[f"{path.relative_to(ROOT).as_posix()}:{node.name}"] = code_lines(node)
    assert long == {}


def test_every_module_says_what_it_is():
    silent = [path.relative_to(ROOT).as_posix() for path in SOURCES
              if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert silent == []
