"""Translates expressions to operations on vectors; see :mod:`wepl.kernels.lanes_translate`."""

from __future__ import annotations

import ast
import importlib
import inspect
from types import ModuleType
from typing import TYPE_CHECKING, Any, get_type_hints

from wepl.kernels.lanes_kinds import ARRAY, BOOL, INT, LANE, REAL, SCRATCH, UNIFORM_ROWS, Kind, Signature, join, weight
from wepl.kernels.translate_expressions import _BUILTINS, _origin
from wepl.kernels.translate_language import (
    COMPARE,
    INTEGER_ARRAYS,
    MATH,
    OPERATORS,
    TranslationError,
    is_struct,
    namespace,
    python_function,
)

if TYPE_CHECKING:
    from wepl.kernels.lanes_translate import Translator

Expression = tuple[str, Kind]
_FIELDS = {float: REAL.wide, int: INT.wide, bool: BOOL.wide}


class Expressions:
    """Expressions of one function: C++ text and kind of each."""

    _translator: Translator
    _module: ModuleType
    _node: ast.FunctionDef
    _types: dict[str, Kind]
    _locals: dict[str, Kind]
    _calls: list[Signature]
    _mask: str

    def _fail(self, node: ast.AST, what: str) -> TranslationError:
        return TranslationError(f"{self._module.__name__}.{self._node.name}, line {getattr(node, 'lineno', 0)}: {what} "
                                "is not in the language of the translator to lanes")

    def _struct(self, value: type) -> Kind:
        self._translator.struct(value)
        module = importlib.import_module(value.__module__)
        return Kind("struct", True, f"{namespace(module)}__{value.__name__}")

    def _resolve(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Name) and node.id not in self._types and node.id not in self._locals:
            return vars(self._module).get(node.id, _BUILTINS.get(node.id))
        if isinstance(node, ast.Attribute):
            owner = self._resolve(node.value)
            if inspect.ismodule(owner):
                return getattr(owner, node.attr)
        return None

    def _called(self, node: ast.AST) -> tuple[ModuleType, str] | None:
        function = python_function(self._resolve(node))
        if function is None or not function.__module__.startswith("wepl."):
            return None
        return importlib.import_module(function.__module__), function.__name__

    @staticmethod
    def _cast(text: str, kind: Kind, wanted: Kind) -> str:
        """The value as another kind: broadcast to all lanes, whole numbers as real ones."""
        if kind == wanted or wanted.base in ("struct", "array", "void", "lane"):
            return text
        if wanted.base == "tuple":
            parts = [Expressions._cast(f"parts_.v{place}", part, want)
                     for place, (part, want) in enumerate(zip(kind.parts, wanted.parts, strict=True))]
            return f"([&] {{ const auto parts_ = {text}; return {wanted.text()}{{{', '.join(parts)}}}; }}())"
        if wanted.varying:
            if kind.varying and wanted.base != "bool":
                return text
            if kind.base == "lane":
                return f"wide({text})"
            if wanted.base == "bool":
                return f"mask({text})"
            return f"wide({text})" if kind.base == "real" else f"wide(Real({text}))"
        return text if kind.base == wanted.base else f"{wanted.text()}({text})"

    def _expression(self, node: ast.AST) -> Expression:
        handler = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        if handler is None:
            raise self._fail(node, type(node).__name__)
        result: Expression = handler(node)
        return result

    def _vector(self, given: Expression) -> str:
        return self._cast(*given, Kind("bool" if given[1].base == "bool" else "real", True))

    def _of_constant(self, node: ast.Constant) -> Expression:
        if isinstance(node.value, bool):
            return ("true" if node.value else "false"), BOOL
        if isinstance(node.value, int):
            return str(node.value), INT
        if isinstance(node.value, float):
            return f"Real({node.value!r})", REAL
        raise self._fail(node, repr(node.value))

    def _of_name(self, node: ast.Name) -> Expression:
        for known in (self._types, self._locals):
            if node.id in known:
                return node.id, known[node.id]
        return self._global(node, node.id, self._module)

    def _global(self, node: ast.AST, name: str, module: ModuleType) -> Expression:
        value = getattr(module, name, None)
        module = _origin(module, name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._fail(node, f"the name {name}")
        if module.__name__ == "wepl.rows":
            return f"rows::{name}", INT
        return self._translator.constant(namespace(module), name, value), INT if isinstance(value, int) else REAL

    def _of_attribute(self, node: ast.Attribute) -> Expression:
        owner = self._resolve(node.value)
        if inspect.ismodule(owner):
            if owner.__name__ == "math":
                return {"pi": ("Real(3.141592653589793)", REAL), "inf": ("Real(HUGE_VAL)", REAL)}[node.attr]
            return self._global(node, node.attr, owner)
        if node.attr == "size":
            return f"{self._expression(node.value)[0]}.size()", INT
        text, kind = self._expression(node.value)
        if kind.base != "struct":
            raise self._fail(node, f"the attribute {node.attr}")
        return f"{text}.{node.attr}", _FIELDS[get_type_hints(self._translator.structs[kind.name])[node.attr]]

    def _places(self, node: ast.Subscript) -> tuple[str, list[Expression]]:
        if not isinstance(node.value, ast.Name):
            raise self._fail(node, "this subscript")
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return node.value.id, [self._expression(place) for place in places]

    def _of_subscript(self, node: ast.Subscript) -> Expression:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            array = self._expression(node.value.value)[0]
            return f"{array}.shape({self._expression(node.slice)[0]})", INT
        name, places = self._places(node)
        text = ", ".join(place[0] for place in places)
        base = "int" if name in INTEGER_ARRAYS else "real"
        if name in SCRATCH:
            if any(kind.varying for _, kind in places):
                return f"at({self._mask}, {name}, {text})", REAL.wide
            return f"{name}({text})", REAL.wide
        first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
        if isinstance(first, ast.Attribute) and (name, first.attr) in UNIFORM_ROWS:
            return f"first_of({self._mask}, {name}, {text})", INT
        if any(kind.varying or kind == LANE for _, kind in places):
            return f"at({self._mask}, {name}, {text})", Kind(base, True)
        return f"{'int' if base == 'int' else 'Real'}({name}({text}))", Kind(base)

    def _of_unaryop(self, node: ast.UnaryOp) -> Expression:
        text, kind = self._expression(node.operand)
        if isinstance(node.op, ast.Not):
            return (f"~({text})" if kind.varying else f"!({text})"), kind
        return f"(-{text})", kind

    def _of_boolop(self, node: ast.BoolOp) -> Expression:
        parts = [self._expression(value) for value in node.values]
        both = isinstance(node.op, ast.And)
        if any(kind.varying for _, kind in parts):
            return f"({(' & ' if both else ' | ').join(self._vector(part) for part in parts)})", BOOL.wide
        return f"({(' && ' if both else ' || ').join(text for text, _ in parts)})", BOOL

    def _of_compare(self, node: ast.Compare) -> Expression:
        parts, varying = [], False
        left = self._expression(node.left)
        rights = [self._expression(right) for right in node.comparators]
        for operator, right in zip(node.ops, rights, strict=True):
            sign = COMPARE[type(operator)]
            if left[1].varying or right[1].varying:
                varying = True
                parts.append(f"M({self._vector(left)} {sign} {self._vector(right)})")
            else:
                parts.append(f"({left[0]} {sign} {right[0]})")
            left = right
        if len(parts) == 1:
            return parts[0], BOOL.wide if varying else BOOL
        if not varying:
            return f"({' && '.join(parts)})", BOOL
        return f"({' & '.join(f'mask({part})' for part in parts)})", BOOL.wide

    def _of_ifexp(self, node: ast.IfExp) -> Expression:
        test, test_kind = self._expression(node.test)
        yes, no = self._expression(node.body), self._expression(node.orelse)
        kind = join(yes[1], no[1])
        if not test_kind.varying:
            return f"({test} ? {self._cast(*yes, kind)} : {self._cast(*no, kind)})", kind
        kind = kind.wide
        yes_text, no_text = self._cast(*yes, kind), self._cast(*no, kind)
        for dear, costly, other, sign in ((node.body, yes_text, no_text, ""), (node.orelse, no_text, yes_text, "~")):
            if weight(dear) >= 20:
                name = kind.text()
                return (f"([&] {{ const M when_ = {sign}{test}; {name} chosen_ = {other}; "
                        f"if (any({self._mask} & when_)) {{ chosen_ = pick(when_, {costly}, chosen_); }} "
                        "return chosen_; }())"), kind
        return f"pick({test}, {yes_text}, {no_text})", kind

    def _of_binop(self, node: ast.BinOp) -> Expression:
        left, right = self._expression(node.left), self._expression(node.right)
        if left[1] == LANE and right[1] == INT and isinstance(node.op, ast.Add):
            return f"Lane{{{left[0]}.base + {right[0]}}}", LANE
        left, right = ((self._vector(part), INT.wide) if part[1] == LANE else part for part in (left, right))
        varying = left[1].varying or right[1].varying
        real = Kind("real", varying)
        if isinstance(node.op, ast.Pow):
            if isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
                return f"power<{node.right.value}>({self._cast(*left, real)})", Kind("real", left[1].varying)
            return f"pow({self._cast(*left, real)}, {self._cast(*right, real)})", real
        whole = left[1].base != "real" and right[1].base != "real" and not isinstance(node.op, ast.Div)
        kind = Kind("int" if whole else "real", varying)
        texts = [self._cast(*part, kind) for part in (left, right)]
        if varying and isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            name = "whole_quotient" if isinstance(node.op, ast.FloorDiv) else "whole_rest"
            return f"{name}({', '.join(texts)})", kind
        return f"({texts[0]} {OPERATORS[type(node.op)]} {texts[1]})", kind

    def _of_call(self, node: ast.Call) -> Expression:
        value = self._resolve(node.func)
        if isinstance(node.func, ast.Name) and node.func.id in ("min", "max", "abs", "int", "float"):
            return self._builtin(node.func.id, [self._expression(argument) for argument in node.args])
        if isinstance(node.func, ast.Attribute) and getattr(self._resolve(node.func.value), "__name__", "") == "math":
            if node.func.attr not in MATH:
                raise self._fail(node, f"math.{node.func.attr}")
            given = self._expression(node.args[0])
            base = "bool" if node.func.attr == "isfinite" else "real"
            return (f"{'' if given[1].varying else 'std::'}{node.func.attr}"
                    f"({self._cast(*given, Kind('real', given[1].varying))})"), Kind(base, given[1].varying)
        if is_struct(value):
            kind = self._struct(value)
            fields = get_type_hints(value)
            parts = [self._cast(*self._expression(argument), _FIELDS[fields[name]])
                     for argument, name in zip(node.args, value._fields, strict=True)]
            return f"{kind.text()}{{{', '.join(parts)}}}", kind
        called = self._called(node.func)
        if called is None:
            raise self._fail(node, f"the call {ast.unparse(node.func)}")
        return self._own_call(node, *called)

    def _own_call(self, node: ast.Call, module: ModuleType, name: str) -> Expression:
        given: list[Expression] = []
        for argument in node.args:
            if isinstance(argument, ast.Name) and self._types.get(argument.id) == ARRAY:
                given.append((argument.id, ARRAY))
            else:
                given.append(self._expression(argument))
        function = self._translator.function(module, name, tuple(kind for _, kind in given))
        self._calls.append(Signature(module.__name__, name, tuple(kind for _, kind in given)))
        texts = [self._mask, *(text for text, _ in given)]
        return f"{namespace(module)}__{name}({', '.join(texts)})", function.result

    def _builtin(self, name: str, given: list[Expression]) -> Expression:
        varying = any(kind.varying for _, kind in given)
        if name in ("int", "float"):
            text, kind = given[0]
            wanted = Kind("int" if name == "int" else "real", varying)
            if varying:
                return (f"trunc({text})" if name == "int" and kind.base == "real" else text), wanted
            return f"{wanted.text()}({text})", wanted
        if name == "abs":
            return f"{'' if varying else 'std::'}abs({given[0][0]})", given[0][1]
        kind = Kind("int" if all(part[1].base == "int" for part in given) else "real", varying)
        text = self._cast(*given[0], kind)
        for part in given[1:]:
            text = f"{name}({text}, {self._cast(*part, kind)})"
        return text, kind
