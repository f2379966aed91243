"""Translates the body of one function; see :mod:`wepl.kernels.translate`."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from types import ModuleType
from typing import TYPE_CHECKING, Any, get_type_hints

from wepl.kernels.translate_language import (
    ARRAY,
    BOOL,
    COMPARE,
    INT,
    INTEGER_ARRAYS,
    INTEGERS,
    MATH,
    OPERATORS,
    REAL,
    STRUCTS,
    VOID,
    Function,
    TranslationError,
    Type,
    is_struct,
    namespace,
    python_function,
)

if TYPE_CHECKING:
    from wepl.kernels.translate import Translator

Expression = tuple[str, Type]


class Body:
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

    def _fail(self, node: ast.AST, what: str) -> TranslationError:
        return TranslationError(f"{self._module.__name__}.{self._node.name}, line {getattr(node, 'lineno', 0)}: {what} "
                                "is not in the translator's language")

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
        return BOOL if name == "ponded" else REAL

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

    # statements -----------------------------------------------------------------------------------------------------

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
        self._put(f"for (int {name} = {start}; {name} {'>' if down else '<'} {stop}; {'--' if down else '++'}{name}) {{")
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

    # expressions ----------------------------------------------------------------------------------------------------

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
