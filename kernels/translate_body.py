"""Translates the body of one function; see :mod:`wepl.kernels.translate`."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from types import ModuleType
from typing import TYPE_CHECKING

from wepl.kernels.translate_expressions import Expressions
from wepl.kernels.translate_language import (
    ARRAY,
    BOOL,
    BOOLEANS,
    INT,
    INTEGERS,
    OPERATORS,
    REAL,
    STRUCTS,
    VOID,
    Function,
    Type,
    python_function,
)

if TYPE_CHECKING:
    from wepl.kernels.translate import Translator

class Body(Expressions):
    """One function on its way from Python to C++: local types are found first, statements written after."""

    def __init__(self, translator: Translator, module: ModuleType, name: str) -> None:
        self._translator = translator
        self._module = module
        self._source = python_function(getattr(module, name))
        tree = ast.parse(textwrap.dedent(inspect.getsource(self._source)))
        node = tree.body[0]
        assert isinstance(node, ast.FunctionDef)
        self._node = node
        self._types: dict[str, Type] = {}
        self._locals: dict[str, Type] = {}
        self._calls: list[tuple[str, str]] = []
        self._modules: list[str] = []
        self._lines: list[str] = []
        self._depth = 1
        self._serial = 0
        self._result = VOID

    def translate(self) -> Function:
        """The whole function."""
        parameters = [(argument.arg, self._parameter_type(argument.arg)) for argument in self._node.args.args]
        self._types = dict(parameters)
        statements = [node for node in self._node.body
                      if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
        # Twice: a type may be widened from int to real by a later assignment.
        for _ in range(2):
            self._lines = []
            self._serial = 0
            for node in statements:
                self._statement(node)
        declared = [f"    {kind.text()} {name};" for name, kind in self._locals.items()]
        summary = (self._source.__doc__ or "").strip().splitlines()[0]
        return Function(self._module, self._node.name, parameters, self._result, declared + self._lines,
                        list(dict.fromkeys(self._calls)), summary, sorted(set(self._modules)))

    def _parameter_type(self, name: str) -> Type:
        for node in ast.walk(self._node):
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
                return ARRAY
            if (isinstance(node, ast.Attribute) and node.attr in ("shape", "size") and isinstance(node.value, ast.Name)
                    and node.value.id == name):
                return ARRAY
            if isinstance(node, ast.Call):
                called = self._called(node.func)
                if called is not None:
                    for position, given in enumerate(node.args):
                        if isinstance(given, ast.Name) and given.id == name:
                            kind = self._translator.function(*called).parameters[position][1]
                            if kind == ARRAY:
                                return ARRAY
        if name in STRUCTS:
            stage, struct = STRUCTS[name].split(".")
            return self._struct(getattr(importlib.import_module(f"wepl.stages.{stage}"), struct))
        if name in INTEGERS:
            return INT
        return BOOL if name in BOOLEANS else REAL

    def _put(self, line: str) -> None:
        self._lines.append("    " * self._depth + line)

    def _block(self, nodes: list[ast.stmt]) -> None:
        self._depth += 1
        for node in nodes:
            self._statement(node)
        self._depth -= 1

    def _statement(self, node: ast.stmt) -> None:
        handler = getattr(self, f"_on_{type(node).__name__.lower()}", None)
        if handler is None:
            raise self._fail(node, type(node).__name__)
        handler(node)

    def _on_expr(self, node: ast.Expr) -> None:
        self._put(f"{self._expression(node.value)[0]};")

    def _on_pass(self, node: ast.Pass) -> None:
        self._put(";")

    def _on_break(self, node: ast.Break) -> None:
        self._put("break;")

    def _on_return(self, node: ast.Return) -> None:
        if node.value is None:
            self._put("return;")
            return
        if isinstance(node.value, ast.Tuple):
            parts = [self._expression(part) for part in node.value.elts]
            kind = Type("tuple", "", tuple(part[1] for part in parts))
            text = f"{kind.text()}{{{', '.join(self._cast(*part, part[1]) for part in parts)}}}"
        else:
            text, kind = self._expression(node.value)
        if self._result == VOID or (self._result == INT and kind == REAL):
            self._result = kind
        self._put(f"return {self._cast(text, kind, self._result)};")

    def _on_if(self, node: ast.If) -> None:
        self._put(f"if ({self._expression(node.test)[0]}) {{")
        self._block(node.body)
        if node.orelse:
            self._put("} else {")
            self._block(node.orelse)
        self._put("}")

    def _on_while(self, node: ast.While) -> None:
        self._put(f"while ({self._expression(node.test)[0]}) {{")
        self._block(node.body)
        self._put("}")

    def _on_for(self, node: ast.For) -> None:
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
                and isinstance(node.target, ast.Name)):
            raise self._fail(node, "a loop over something else than range")
        bounds = [self._expression(argument)[0] for argument in call.args]
        start, stop = ("0", bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        down = len(bounds) == 3
        if down and bounds[2].replace(" ", "") not in ("-1", "(-1)"):
            raise self._fail(node, "a step other than 1 and -1")
        name = node.target.id if node.target.id != "_" else f"turn_{self._count()}"
        outer = self._types.get(name)
        self._types[name] = INT
        compare, step = (">", "--") if down else ("<", "++")
        self._put(f"for (int {name} = {start}; {name} {compare} {stop}; {step}{name}) {{")
        self._block(node.body)
        self._put("}")
        if outer is not None:
            self._types[name] = outer

    def _count(self) -> int:
        self._serial += 1
        return self._serial

    def _on_assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            self._assign_tuple(target, node.value)
            return
        text, kind = self._expression(node.value)
        self._assign(target, text, kind)

    def _assign_tuple(self, target: ast.Tuple, value: ast.expr) -> None:
        if isinstance(value, ast.Tuple):
            parts = [self._expression(part) for part in value.elts]
            names = []
            for text, kind in parts:
                names.append(f"part_{self._count()}")
                self._put(f"const {kind.text()} {names[-1]} = {text};")
        else:
            text, kind = self._expression(value)
            if kind.base != "tuple":
                raise self._fail(value, "unpacking something else than a tuple")
            held = f"parts_{self._count()}"
            self._put(f"const {kind.text()} {held} = {text};")
            parts = [("", part) for part in kind.parts]
            names = [f"{held}.v{number}" for number in range(len(parts))]
        for element, name, (_, kind) in zip(target.elts, names, parts, strict=True):
            self._assign(element, name, kind)

    def _assign(self, target: ast.expr, text: str, kind: Type) -> None:
        if isinstance(target, ast.Subscript):
            place, held = self._expression(target)
            self._put(f"{place} = {self._cast(text, kind, held)};")
            return
        if not isinstance(target, ast.Name):
            raise self._fail(target, "this target")
        name = target.id
        if name in self._types:
            self._put(f"{name} = {self._cast(text, kind, self._types[name])};")
            return
        known = self._locals.get(name)
        if known is None or (known == INT and kind == REAL):
            self._locals[name] = kind
        self._put(f"{name} = {self._cast(text, kind, self._locals[name])};")

    def _on_augassign(self, node: ast.AugAssign) -> None:
        place, kind = self._expression(node.target)
        text, given = self._expression(node.value)
        if isinstance(node.target, ast.Name) and kind == INT and given == REAL:
            self._locals[node.target.id] = kind = REAL
        self._put(f"{place} {OPERATORS[type(node.op)]}= {self._cast(text, given, kind)};")
