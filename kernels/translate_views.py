"""The kernels' arguments in CUDA C++, written from the table of :mod:`wepl.kernels.buffers`."""

from __future__ import annotations

from wepl.kernels import buffers

_TYPES = {"int32": "int", "store": "Store", "real": "Real"}


def dimension_names(kernel: str) -> list[str]:
    """Symbolic dimensions of a kernel's arrays in order of appearance: they follow the arguments as integers."""
    names: list[str] = []
    for argument in buffers.arguments(kernel):
        if isinstance(argument, buffers.Buffer):
            for dim in argument.dims:
                if isinstance(dim, str) and dim.partition("+")[0] not in names:
                    names.append(dim.partition("+")[0])
    return names


def _size(dim: str | int) -> str:
    if isinstance(dim, int):
        return str(dim)
    name, _, more = dim.partition("+")
    if name == "layer":
        return "N_LAYERS"
    return f"size_{name} + {more}" if more else f"size_{name}"


def arguments(kernel: str) -> str:
    """The parameter list of a kernel."""
    parts = []
    for argument in buffers.arguments(kernel):
        if isinstance(argument, buffers.Scalar):
            parts.append(f"{'int' if argument.dtype == 'int' else 'Real'} {argument.name}")
        else:
            kind = _TYPES[argument.dtype]
            constant = "const " if argument.access == "read" else ""
            parts.append(f"{constant}{kind}* __restrict__ {argument.name}_data")
    parts += [f"int size_{name}" for name in dimension_names(kernel)]
    return ", ".join(parts)


def views(kernel: str) -> list[str]:
    """Statements that wrap the pointers of a kernel into views."""
    lines = []
    for argument in buffers.arguments(kernel):
        if isinstance(argument, buffers.Buffer):
            kind = _TYPES[argument.dtype]
            constant = "const " if argument.access == "read" else ""
            sizes = ", ".join(_size(dim) for dim in argument.dims)
            # A kernel names its status array after its stage; the stages' functions call it status.
            name = "status" if argument.name.endswith("_status") else argument.name
            lines.append(f"wepl::View{len(argument.dims)}<{constant}{kind}> {name}{{{argument.name}_data, {sizes}}};")
    return lines


def views_header() -> str:
    """Macros with the parameter list and the views of every kernel."""
    lines = ["// Arguments and array views of the kernels.",
             "// Written by wepl.kernels.translate from kernels/buffers.py: change them there.", "#pragma once"]
    for kernel in buffers.KERNELS:
        name = kernel.upper()
        lines += ["", f"#define {name}_ARGUMENTS {arguments(kernel)}"]
        lines += [f"#define {name}_VIEWS {' '.join(views(kernel))}"]
    return "\n".join([*lines, ""])
