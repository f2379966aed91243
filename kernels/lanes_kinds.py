"""Kinds of values of the translator to vector lanes: what is the same in all lanes and what varies between them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from types import ModuleType
from typing import NamedTuple

# Arrays of one group of lanes: each element is a vector.
SCRATCH = frozenset({"store", "flux", "soil", "flow"})
# A group's tiles are of one kind: the driver sees to it.
UNIFORM_ROWS = frozenset({("tile_index", "TILE_KIND")})
# Statements whose weight is at most this are done under a mask without asking whether any lane needs them.
_BRANCH_WEIGHT = 14
_CALL_WEIGHT = 20
_DIVISION_WEIGHT = 5


@dataclass(frozen=True)
class Kind:
    """``real``, ``int``, ``bool``, ``lane``, ``array``, ``void``, a struct (``name``) or a tuple (``parts``).

    A ``lane`` is the first place of a group of neighbours in memory.
    """

    base: str
    varying: bool = False
    name: str = ""
    parts: tuple[Kind, ...] = ()

    def text(self) -> str:
        """The type in C++."""
        if self.base == "struct":
            return self.name
        if self.base == "tuple":
            return f"Tuple{len(self.parts)}<{', '.join(part.text() for part in self.parts)}>"
        if self.base == "lane":
            return "Lane"
        if self.varying:
            return "M" if self.base == "bool" else "V"
        return {"real": "Real", "int": "int", "bool": "bool", "void": "void"}[self.base]

    @property
    def wide(self) -> Kind:
        """The same kind, varying."""
        if self.base == "tuple":
            return Kind("tuple", True, "", tuple(part.wide for part in self.parts))
        return Kind("int" if self.base == "lane" else self.base, True, self.name)


REAL, INT, BOOL, ARRAY, VOID, LANE = (Kind(base) for base in ("real", "int", "bool", "array", "void", "lane"))
_ORDER = ("void", "bool", "int", "real")


def join(first: Kind, second: Kind) -> Kind:
    """The kind that holds values of both."""
    if first == second or second == VOID:
        return first
    if first == VOID:
        return second
    if first.base == "tuple":
        return Kind("tuple", first.varying or second.varying, "",
                    tuple(join(a, b) for a, b in zip(first.parts, second.parts, strict=True)))
    if first.base == "struct":
        return first.wide
    first, second = (kind.wide if kind.base == "lane" else kind for kind in (first, second))
    base = max(first.base, second.base, key=_ORDER.index)
    return Kind(base, first.varying or second.varying)


class Signature(NamedTuple):
    """A function for certain kinds of parameters."""

    module: str
    name: str
    kinds: tuple[Kind, ...]


@dataclass
class Function:
    """One translated function: parameters, result, text, and what it calls."""

    module: ModuleType
    name: str
    parameters: list[tuple[str, Kind]]
    result: Kind
    body: list[str] = field(default_factory=list)
    calls: list[Signature] = field(default_factory=list)
    summary: str = ""


Path = tuple[tuple[int, str], ...]


def paths(statements: list[ast.stmt], here: Path = ()) -> dict[str, list[Path]]:
    """Blocks in which each name occurs, as the chain of statements and branches that lead to them."""
    found: dict[str, list[Path]] = {}

    def names(node: ast.AST, path: Path) -> None:
        for leaf in ast.walk(node):
            if isinstance(leaf, ast.Name):
                found.setdefault(leaf.id, []).append(path)

    def enter(nodes: list[ast.stmt], path: Path) -> None:
        for name, more in paths(nodes, path).items():
            found.setdefault(name, []).extend(more)

    for node in statements:
        if isinstance(node, ast.If):
            names(node.test, here)
            enter(node.body, (*here, (id(node), "body")))
            enter(node.orelse, (*here, (id(node), "orelse")))
        elif isinstance(node, ast.While):
            names(node.test, (*here, (id(node), "body")))
            names(node.test, here)
            enter(node.body, (*here, (id(node), "body")))
        elif isinstance(node, ast.For):
            names(node.iter, here)
            enter(node.body, (*here, (id(node), "body")))
        else:
            names(node, here)
    return found


def common(chains: list[Path]) -> Path:
    """The innermost block that holds all of them."""
    first = min(chains, key=len)
    for length in range(len(first), -1, -1):
        if all(chain[:length] == first[:length] for chain in chains):
            return first[:length]
    return ()


def holds(statements: list[ast.stmt], wanted: type[ast.stmt]) -> bool:
    """Whether a statement of this type stands anywhere within, breaks of inner loops left out."""
    for node in statements:
        if isinstance(node, wanted):
            return True
        if isinstance(node, ast.If) and (holds(node.body, wanted) or holds(node.orelse, wanted)):
            return True
        if isinstance(node, (ast.For, ast.While)) and wanted is not ast.Break and holds(node.body, wanted):
            return True
    return False


def weight(node: ast.AST, cheap: frozenset[str] = frozenset({"min", "max", "abs", "int", "float", "range"})) -> int:
    """Rough number of vector operations of an expression or statement."""
    total = 0
    for leaf in ast.walk(node):
        if isinstance(leaf, (ast.For, ast.While)):
            total += 2 * _CALL_WEIGHT
        elif isinstance(leaf, ast.Call):
            total += 1 if isinstance(leaf.func, ast.Name) and (leaf.func.id in cheap or leaf.func.id[0].isupper()) \
                else _CALL_WEIGHT
        elif isinstance(leaf, (ast.Div, ast.Mod, ast.FloorDiv)):
            total += _DIVISION_WEIGHT
        elif isinstance(leaf, ast.Pow):
            total += _CALL_WEIGHT
        elif isinstance(leaf, (ast.operator, ast.cmpop, ast.Subscript)):
            total += 1
    return total


def branches(nodes: list[ast.stmt]) -> bool:
    """Whether statements are dear enough to ask first whether any lane needs them."""
    return sum(weight(node) for node in nodes) > _BRANCH_WEIGHT
