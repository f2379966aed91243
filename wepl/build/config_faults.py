"""What is wrong with the TOML file of a build, one line per fault with its dotted path."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from wepl import registry


def parameter_names() -> list[str]:
    """Parameters that one number can give: those over sub-basins, units, soil layers and cells."""
    spread = {"subbasin", "unit", "soil_layer", "cell"}
    return [entry.name for entry in registry.of_kind("parameter") if set(entry.dims) <= spread]


def unknown_names(given: Mapping[str, Any]) -> list[str]:
    """Lines about names and choices that the registry does not know."""
    options = {entry.name: entry for entry in registry.of_kind("option")}
    lines = []
    for table, known in (("parameters", parameter_names()), ("options", list(options))):
        content = given.get(table)
        content = content if isinstance(content, Mapping) else {}
        for name in content:
            if name not in known:
                lines.append(f"{table}.{name}: not in the registry as a name that can be set here"
                             f"{_guess(name, known)}; docs/registry.md lists them")
            elif table == "options" and isinstance(content[name], str) and content[name] not in options[name].choices:
                lines.append(f"{table}.{name}: {content[name]!r}: choose from "
                             f"{', '.join(options[name].choices) or 'numbers'}")
    return lines


def _guess(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f" (did you mean {near[0]}?)" if near else ""


def fault_lines(error: ValidationError, root: type[BaseModel]) -> list[str]:
    """Each fault once, with its dotted path."""
    lines = []
    for fault in error.errors(include_url=False):
        place, model, known = "", root, list(root.model_fields)
        for part in fault["loc"]:
            if isinstance(part, int):
                place += f"[{part + 1}]"
            else:
                place += f".{part}" if place else str(part)
                model = _model_of(model, str(part))
                known = list(model.model_fields) if model else known
        lines.append(f"{place or 'the file'}: {_text(fault, known)}")
    return list(dict.fromkeys(lines))


def _model_of(model: Any, key: str) -> Any:
    """The model of a table inside another, None where it is a plain value."""
    field = model.model_fields.get(key) if model else None
    if field is None:
        return None
    kinds = [field.annotation, *getattr(field.annotation, "__args__", ())]
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _text(fault: Any, known: list[str]) -> str:
    kind, given = fault["type"], fault["input"]
    if kind == "extra_forbidden":
        return f"unknown key{_guess(str(fault['loc'][-1]), known)}"
    if kind == "missing":
        return "missing; the file must give it"
    if kind == "build":
        return fault["ctx"]["text"]
    message = fault["msg"].removeprefix("Input ").replace("should be", "must be")
    return f"{given!r} {message}" if not isinstance(given, (dict, list)) else message
