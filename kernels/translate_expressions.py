"""Translates expressions and finds what names mean; see :mod:`wepl.kernels.translate`."""

from __future__ import annotations

import ast
import importlib
import inspect
from types import ModuleType
from typing import TYPE_CHECKING, Any, get_type_hints

from wepl.kernels.translate_language import (
    ARRAY,
    BOOL,
    COMPARE,
    INT,
    INTEGER_ARRAYS,
    MATH,
    OPERATORS,
    REAL,
    TranslationError,
    Type,
    is_struct,
    namespace,
    python_function,
)

if TYPE_CHECKING:
    from wepl.kernels.translate import Translator

Expression = tuple[str, Type]


class Expressions:
    """Expressions of one function: C++ text and type of each."""

    _translator: Translator
    _module: ModuleType
    _node: ast.FunctionDef
    _types: dict[str, Type]
    _locals: dict[str, Type]
    _calls: list[tuple[str, str]]
    _modules: list[str]

    def _fail(self, node: ast.AST, what: str) -> TranslationError:
        return TranslationError(f"{self._module.__name__}.{self._node.name}, line {getattr(node, 'lineno', 0)}: {what} "
                                "is not in the translator's language")

    @staticmethod
    def _struct(value: type) -> Type:
        module = importlib.import_module(value.__module__)
        return Type("struct", f"wepl::{namespace(module)}::{value.__name__}")

    def _resolve(self, node: ast.AST) -> Any:
        """The Python object behind a name or a dotted name that is not local; None when there is none."""
        if isinstance(node, ast.Name) and node.id not in self._types and node.id not in self._locals:
            return vars(self._module).get(node.id, _BUILTINS.get(node.id))
        if isinstance(node, ast.Attribute):
            owner = self._resolve(node.value)
            if inspect.ismodule(owner):
                return getattr(owner, node.attr)
        return None

    def _called(self, node: ast.AST) -> tuple[ModuleType, str] | None:
        """Module and name of one of our functions that a call names."""
        function = python_function(self._resolve(node))
        if function is None or not function.__module__.startswith("wepl."):
            return None
        return importlib.import_module(function.__module__), function.__name__

    @staticmethod
    def _cast(text: str, kind: Type, wanted: Type) -> str:
        if kind == wanted or wanted.base not in ("real", "int", "bool"):
            return text
        return f"{wanted.text()}({text})"

    def _expression(self, node: ast.AST) -> Expression:
        handler = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        if handler is None:
            raise self._fail(node, type(node).__name__)
        result: Expression = handler(node)
        return result

    def _of_constant(self, node: ast.Constant) -> Expression:
        if isinstance(node.value, bool):
            return ("true" if node.value else "false"), BOOL
        if isinstance(node.value, int):
            return str(node.value), INT
        if isinstance(node.value, float):
            return f"R({node.value!r})", REAL
        raise self._fail(node, repr(node.value))

    def _of_name(self, node: ast.Name) -> Expression:
        if node.id in self._types:
            return node.id, self._types[node.id]
        if node.id in self._locals:
            return node.id, self._locals[node.id]
        return self._global(node, node.id, self._module)

    def _global(self, node: ast.AST, name: str, module: ModuleType) -> Expression:
        value = getattr(module, name, None)
        module = _origin(module, name)
        owner = "rows" if module.__name__ == "wepl.rows" else namespace(module)
        if owner != "rows":
            self._modules.append(module.__name__)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._fail(node, f"the name {name}")
        if isinstance(value, int):
            return f"wepl::{owner}::{name}", INT
        return f"R(wepl::{owner}::{name})", REAL

    def _of_attribute(self, node: ast.Attribute) -> Expression:
        owner = self._resolve(node.value)
        if inspect.ismodule(owner):
            if owner.__name__ == "math":
                return {"pi": ("R(3.141592653589793)", REAL), "inf": ("R(INFINITY)", REAL)}[node.attr]
            return self._global(node, node.attr, owner)
        if node.attr == "size":
            return f"{self._expression(node.value)[0]}.size()", INT
        text, kind = self._expression(node.value)
        if kind.base != "struct":
            raise self._fail(node, f"the attribute {node.attr}")
        space, struct = kind.name.split("::")[1:]
        folder, module = ("stages", space[6:]) if space.startswith("stage_") else ("physics", space)
        fields = get_type_hints(getattr(importlib.import_module(f"wepl.{folder}.{module}"), struct))
        return f"{text}.{node.attr}", {float: REAL, int: INT, bool: BOOL}[fields[node.attr]]

    def _of_subscript(self, node: ast.Subscript) -> Expression:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            array = self._expression(node.value.value)[0]
            return f"{array}.shape({self._expression(node.slice)[0]})", INT
        if not isinstance(node.value, ast.Name):
            raise self._fail(node, "this subscript")
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        text = ", ".join(self._expression(place)[0] for place in places)
        return f"{node.value.id}({text})", INT if node.value.id in INTEGER_ARRAYS else REAL

    def _of_unaryop(self, node: ast.UnaryOp) -> Expression:
        text, kind = self._expression(node.operand)
        if isinstance(node.op, ast.Not):
            return f"!({text})", BOOL
        return f"(-{text})", kind

    def _of_boolop(self, node: ast.BoolOp) -> Expression:
        joint = " && " if isinstance(node.op, ast.And) else " || "
        return f"({joint.join(self._expression(value)[0] for value in node.values)})", BOOL

    def _of_compare(self, node: ast.Compare) -> Expression:
        parts = []
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            parts.append(f"({self._expression(left)[0]} {COMPARE[type(operator)]} {self._expression(right)[0]})")
            left = right
        return (parts[0] if len(parts) == 1 else f"({' && '.join(parts)})"), BOOL

    def _of_ifexp(self, node: ast.IfExp) -> Expression:
        test = self._expression(node.test)[0]
        yes, no = self._expression(node.body), self._expression(node.orelse)
        kind = yes[1] if yes[1] == no[1] else REAL
        return f"({test} ? {self._cast(*yes, kind)} : {self._cast(*no, kind)})", kind

    def _of_binop(self, node: ast.BinOp) -> Expression:
        left, right = self._expression(node.left), self._expression(node.right)
        if isinstance(node.op, ast.Pow):
            if isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
                return f"power<{node.right.value}>({self._cast(*left, REAL)})", REAL
            return f"wepl::pow({self._cast(*left, REAL)}, {self._cast(*right, REAL)})", REAL
        kind = INT if left[1] == right[1] == INT and not isinstance(node.op, ast.Div) else REAL
        return f"({self._cast(*left, kind)} {OPERATORS[type(node.op)]} {self._cast(*right, kind)})", kind

    def _of_call(self, node: ast.Call) -> Expression:
        given = [self._expression(argument) for argument in node.args
                 if not (isinstance(argument, ast.Name) and self._types.get(argument.id) == ARRAY)]
        value = self._resolve(node.func)
        if isinstance(node.func, ast.Name) and node.func.id in ("min", "max", "abs", "int", "float"):
            return self._builtin(node.func.id, given)
        if isinstance(node.func, ast.Attribute) and getattr(self._resolve(node.func.value), "__name__", "") == "math":
            if node.func.attr not in MATH:
                raise self._fail(node, f"math.{node.func.attr}")
            return (f"wepl::{node.func.attr}({self._cast(*given[0], REAL)})",
                    BOOL if node.func.attr == "isfinite" else REAL)
        if is_struct(value):
            kind = self._struct(value)
            fields = get_type_hints(value)
            wanted = [{float: REAL, int: INT, bool: BOOL}[fields[name]] for name in value._fields]
            parts = [self._cast(*part, want) for part, want in zip(given, wanted, strict=True)]
            return f"{kind.text()}{{{', '.join(parts)}}}", kind
        called = self._called(node.func)
        if called is None:
            raise self._fail(node, f"the call {ast.unparse(node.func)}")
        return self._own_call(node, *called)

    def _own_call(self, node: ast.Call, module: ModuleType, name: str) -> Expression:
        function = self._translator.function(module, name)
        self._calls.append((module.__name__, name))
        parts = []
        for argument, (_, wanted) in zip(node.args, function.parameters, strict=True):
            if wanted == ARRAY:
                assert isinstance(argument, ast.Name)
                parts.append(argument.id)
            else:
                parts.append(self._cast(*self._expression(argument), wanted))
        return f"wepl::{namespace(module)}::{name}<R>({', '.join(parts)})", function.result

    def _builtin(self, name: str, given: list[Expression]) -> Expression:
        if name in ("int", "float"):
            kind = INT if name == "int" else REAL
            return f"{kind.text()}({given[0][0]})", kind
        if name == "abs":
            return f"wepl::abs({given[0][0]})", given[0][1]
        kind = INT if all(part[1] == INT for part in given) else REAL
        text = self._cast(*given[0], kind)
        for part in given[1:]:
            text = f"wepl::{name}({text}, {self._cast(*part, kind)})"
        return text, kind


_BUILTINS = {"min": min, "max": max, "abs": abs, "int": int, "float": float}


def _origin(module: ModuleType, name: str) -> ModuleType:
    """The module in which a constant is written that ``module`` has or imports by name."""
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ImportFrom) and node.module and any(alias.name == name for alias in node.names):
            return importlib.import_module(node.module)
    return module
