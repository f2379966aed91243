"""Translates the body of one function to masked vector code; see :mod:`wepl.kernels.lanes_translate`.

A mask says which lanes are at work. A condition that varies narrows it; a return or break under such a condition takes
lanes out of the masks that follow. Values that are the same in all lanes stay plain numbers, conditions on them plain
branches.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from types import ModuleType
from typing import TYPE_CHECKING

from wepl.kernels.lanes_expressions import Expressions
from wepl.kernels.lanes_kinds import (
    INT,
    SCRATCH,
    VOID,
    Function,
    Kind,
    Path,
    Signature,
    branches,
    common,
    holds,
    join,
    paths,
)
from wepl.kernels.translate_language import python_function

if TYPE_CHECKING:
    from wepl.kernels.lanes_translate import Translator

_ROUNDS = 8
_OWN_NAMES = frozenset({"on", "done", "answer"})


class Body(Expressions):
    """One function on its way from Python to C++, for given kinds of its parameters."""

    def __init__(self, translator: Translator, module: ModuleType, name: str, kinds: tuple[Kind, ...]) -> None:
        self._translator = translator
        self._module = module
        self._source = python_function(getattr(module, name))
        node = ast.parse(textwrap.dedent(inspect.getsource(self._source))).body[0]
        assert isinstance(node, ast.FunctionDef)
        self._node = node
        self._parameters = list(zip((argument.arg for argument in node.args.args), kinds, strict=True))
        self._statements = [part for part in node.body
                            if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
        self._homes = {key: common(chains) for key, chains in paths(self._statements).items()}
        # A parameter that is assigned lives in the whole function.
        self._homes.update({key: () for key, _ in self._parameters})
        self._locals: dict[str, Kind] = {}
        self._result = VOID
        returns = [part for part in ast.walk(node) if isinstance(part, ast.Return)]
        self._early = bool(returns) and not (len(returns) == 1 and node.body[-1] is returns[0])

    def translate(self) -> Function:
        """The whole function: written again until no kind changes any more."""
        self._widened: dict[str, Kind] = {}
        for _ in range(_ROUNDS):
            before = (dict(self._locals), self._result, dict(self._widened))
            self._write()
            if before == (self._locals, self._result, self._widened):
                break
        else:
            raise self._fail(self._node, "a kind that does not settle")
        head = [f"    {kind.text()} {name}{'{}' if kind.varying else ''};"
                for name, kind in self._locals.items()]
        head += [f"    {self._widened[name].text()} {name} = {self._cast(f'{name}_given', kind, self._widened[name])};"
                 for name, kind in self._parameters if name in self._widened]
        if self._early:
            head += [f"    {self._result.text()} answer{{}};"] if self._result != VOID else []
            head += ["    M done = mask(false);"]
        if taken := _OWN_NAMES.intersection([*self._locals, *(name for name, _ in self._parameters)]):
            raise self._fail(self._node, f"the name {min(taken)}, which masks use,")
        parameters = [(f"{name}_given" if name in self._widened else name, kind) for name, kind in self._parameters]
        summary = (self._source.__doc__ or "").strip().splitlines()[0]
        return Function(self._module, self._node.name, parameters, self._result, head + self._lines,
                        list(dict.fromkeys(self._calls)), summary)

    def _write(self) -> None:
        self._types = {**dict(self._parameters), **self._widened}
        self._calls: list[Signature] = []
        self._lines: list[str] = []
        self._depth = 1
        self._serial = 0
        self._mask = "on"
        self._path: Path = ()
        # Blocks whose mask is narrower than that of the block around them.
        self._varying: set[tuple[int, str]] = set()
        self._loops: list[tuple[str, Path]] = []
        for node in self._statements:
            self._statement(node)
        if self._early:
            self._put("return answer;" if self._result != VOID else "return;")

    def _put(self, line: str) -> None:
        self._lines.append("    " * self._depth + line)

    def _count(self) -> int:
        self._serial += 1
        return self._serial

    def _statement(self, node: ast.stmt) -> None:
        handler = getattr(self, f"_on_{type(node).__name__.lower()}", None)
        if handler is None:
            raise self._fail(node, type(node).__name__)
        handler(node)

    def _block(self, nodes: list[ast.stmt], key: tuple[int, str], mask: str | None = None) -> None:
        """Statements of a branch or loop, under ``mask`` where the condition varies."""
        outer = self._mask
        if mask is not None:
            self._varying.add(key)
            self._mask = mask
        self._path = (*self._path, key)
        self._depth += 1
        for node in nodes:
            self._statement(node)
        self._depth -= 1
        self._path = self._path[:-1]
        self._mask = outer

    def _masked(self, since: Path) -> bool:
        """Whether the present mask may be narrower than it was in the block ``since``."""
        return any(key in self._varying for key in self._path[len(since):])

    def _on_expr(self, node: ast.Expr) -> None:
        self._put(f"{self._expression(node.value)[0]};")

    def _on_pass(self, node: ast.Pass) -> None:
        self._put(";")

    def _on_break(self, node: ast.Break) -> None:
        gone, since = self._loops[-1]
        self._put(f"{gone} |= {self._mask};" if self._masked(since) else "break;")

    def _on_return(self, node: ast.Return) -> None:
        masked = self._masked(())
        text, kind = self._returned(node)
        self._result = join(self._result, kind.wide if masked and kind != VOID else kind)
        if not self._early:
            self._put(f"return {self._cast(text, kind, self._result)};" if kind != VOID else "return;")
            return
        if kind != VOID:
            value = self._cast(text, kind, self._result)
            wide = self._result.varying or self._result.base == "struct"
            self._put(f"answer = {f'pick({self._mask}, {value}, answer)' if wide else value};")
        if masked:
            self._put(f"done |= {self._mask};")
        else:
            self._put("return answer;" if kind != VOID else "return;")

    def _returned(self, node: ast.Return) -> tuple[str, Kind]:
        if node.value is None:
            return "", VOID
        if isinstance(node.value, ast.Tuple):
            parts = [self._expression(part) for part in node.value.elts]
            kind = Kind("tuple", any(part[1].varying for part in parts), "", tuple(part[1] for part in parts))
            return f"{kind.text()}{{{', '.join(part[0] for part in parts)}}}", kind
        return self._expression(node.value)

    def _after(self, nodes: list[ast.stmt]) -> None:
        """Take lanes that have returned or left the loop out of the present mask."""
        away = []
        if holds(nodes, ast.Return):
            away.append("done")
        if self._loops and holds(nodes, ast.Break):
            away.append(self._loops[-1][0])
        if not away:
            return
        self._put(f"{self._mask} &= ~{away[0] if len(away) == 1 else '(' + ' | '.join(away) + ')'};")
        if self._mask == "on":
            end = "return answer;" if self._result != VOID else "return;"
            if "done" in away:
                self._put(f"if (!any(on)) {{ {end} }}")

    def _on_if(self, node: ast.If) -> None:
        text, kind = self._expression(node.test)
        if not kind.varying:
            self._put(f"if ({text}) {{")
            self._block(node.body, (id(node), "body"))
            if node.orelse:
                self._put("} else {")
                self._block(node.orelse, (id(node), "orelse"))
            self._put("}")
        else:
            number = self._count()
            self._put("{")
            self._depth += 1
            self._put(f"const M if_{number} = {text};")
            for nodes, branch, sign in ((node.body, "body", ""), (node.orelse, "orelse", "~")):
                if nodes:
                    own = f"on_{self._count()}"
                    self._put(f"M {own} = {self._mask} & {sign}if_{number};")
                    self._put(f"if (any({own})) {{" if branches(nodes) else "{")
                    self._block(nodes, (id(node), branch), own)
                    self._put("}")
            self._depth -= 1
            self._put("}")
        if kind.varying or self._varying.intersection({(id(part), branch) for part in ast.walk(node)
                                                       for branch in ("body", "orelse")}):
            self._after([node])

    def _loop(self, node: ast.For | ast.While, opening: str, narrowing: str | None) -> None:
        """A loop whose mask narrows by ``narrowing`` at the head of each turn, where that is not None."""
        number = self._count()
        own, gone = f"on_{number}", f"gone_{number}"
        leaves = holds(node.body, ast.Break) or holds(node.body, ast.Return)
        key = (id(node), "body")
        self._put("{")
        self._depth += 1
        self._put(f"M {own} = {self._mask};")
        if holds(node.body, ast.Break):
            self._put(f"M {gone} = mask(false);")
        self._put(opening)
        self._depth += 1
        if narrowing is not None:
            self._put(f"{own} &= {narrowing.replace('MASK', own)};")
        if narrowing is not None or leaves:
            self._put(f"if (!any({own})) {{ break; }}")
        self._depth -= 1
        self._loops.append((gone, (*self._path, key)))
        # A lane that leaves early must keep its values while the others go on.
        narrow = narrowing is not None or leaves
        self._block(node.body, key, own if narrow else None)
        self._loops.pop()
        self._put("}")
        self._depth -= 1
        self._put("}")
        if holds(node.body, ast.Return):
            self._after([node])

    def _on_while(self, node: ast.While) -> None:
        text, kind = self._expression(node.test)
        if kind.varying:
            self._loop(node, "for (;;) {", text)
        else:
            self._loop(node, f"while ({text}) {{", None)

    def _on_for(self, node: ast.For) -> None:
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
                and isinstance(node.target, ast.Name)):
            raise self._fail(node, "a loop over something else than range")
        bounds = [self._expression(argument) for argument in call.args]
        start, stop = (("0", INT), bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        down = len(bounds) == 3
        if down and bounds[2][0].replace(" ", "") not in ("-1", "(-1)"):
            raise self._fail(node, "a step other than 1 and -1")
        name = node.target.id if node.target.id != "_" else f"turn_{self._count()}"
        outer = self._types.get(name)
        compare, step = (">", "--") if down else ("<", "++")
        if not (start[1].varying or stop[1].varying):
            self._types[name] = INT
            self._loop(node, f"for (int {name} = {start[0]}; {name} {compare} {stop[0]}; {step}{name}) {{", None)
        else:
            last = f"stop_{self._count()}"
            self._put(f"const V {last} = {self._vector(stop)};")
            if start[1].varying:
                self._types[name] = INT.wide
                opening = f"for (V {name} = {start[0]};; {name} = {name} {step[0]} 1.0) {{"
            else:
                self._types[name] = INT
                opening = f"for (int {name} = {start[0]};; {step}{name}) {{"
            self._loop(node, opening, f"M({self._vector((name, self._types[name]))} {compare} {last})")
        del self._types[name]
        if outer is not None:
            self._types[name] = outer

    def _on_assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            self._assign_tuple(target, node.value)
        else:
            self._assign(target, *self._expression(node.value))

    def _assign_tuple(self, target: ast.Tuple, value: ast.expr) -> None:
        if isinstance(value, ast.Tuple):
            parts = [self._expression(part) for part in value.elts]
            names = []
            for text, kind in parts:
                names.append(f"part_{self._count()}")
                self._put(f"const {kind.text()} {names[-1]} = {text};")
            kinds = [kind for _, kind in parts]
        else:
            text, kind = self._expression(value)
            if kind.base != "tuple":
                raise self._fail(value, "unpacking something else than a tuple")
            held = f"parts_{self._count()}"
            self._put(f"const {kind.text()} {held} = {text};")
            kinds = list(kind.parts)
            names = [f"{held}.v{number}" for number in range(len(kinds))]
        for element, name, kind in zip(target.elts, names, kinds, strict=True):
            self._assign(element, name, kind)

    def _assign(self, target: ast.expr, text: str, kind: Kind) -> None:
        if isinstance(target, ast.Subscript):
            self._put_element(target, text, kind)
            return
        if not isinstance(target, ast.Name):
            raise self._fail(target, "this target")
        name = target.id
        masked = self._masked(self._homes[name])
        given = kind.wide if masked or kind.base == "lane" else kind
        if name in self._types:
            held = join(self._types[name], given)
            if held != self._types[name]:
                self._types[name] = self._widened[name] = held
        else:
            held = self._locals[name] = join(self._locals.get(name, VOID), given)
        value = self._cast(text, kind, held)
        self._put(f"{name} = {f'pick({self._mask}, {value}, {name})' if masked else value};")

    def _put_element(self, target: ast.Subscript, text: str, kind: Kind) -> None:
        name, places = self._places(target)
        value = self._vector((text, kind))
        if name in SCRATCH and not any(place.varying for _, place in places):
            place = f"{name}({', '.join(part[0] for part in places)})"
            self._put(f"{place} = pick({self._mask}, {value}, {place});")
            return
        self._put(f"put({self._mask}, {value}, {name}, {', '.join(part[0] for part in places)});")

    def _on_augassign(self, node: ast.AugAssign) -> None:
        text, kind = self._expression(ast.BinOp(left=node.target, op=node.op, right=node.value))
        self._assign(node.target, text, kind)
