"""Compiles the CUDA C kernels with NVRTC for an architecture, with no GPU or driver at hand, and reads what they use.

The options are those with which the cupy backend compiles, so what is proven here is what runs there.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from wepl.errors import BackendError
from wepl.kernels import sources

# Turing, Ampere (two), Ada, Hopper, Blackwell (two).
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
# CuPy adds these to whatever it is given.
_CUPY_OPTIONS = ("-ftz=true", "--device-as-default-execution-space")


@dataclass(frozen=True)
class Resources:
    """What one thread of a kernel takes: registers, stack (bytes, spills included), spilled bytes."""

    registers: int
    stack: int
    spill_stores: int
    spill_loads: int


@dataclass(frozen=True)
class Compiled:
    """A kernel compiled for one architecture.

    Attributes
    ----------
    cubin : bytes
        The machine code.
    ptx : str
        The intermediate code.
    log : str
        What NVRTC and ptxas say.
    resources : Resources
    """

    cubin: bytes = field(repr=False)
    ptx: str = field(repr=False)
    log: str = field(repr=False)
    resources: Resources


def options(precision: str, n_layers: int, *, exact: bool = False) -> tuple[str, ...]:
    """Options of NVRTC for a compilation.

    Parameters
    ----------
    precision : str
        ``float64``, ``mixed`` or ``float32``.
    n_layers : int
        Number of soil layers.
    exact : bool
        Keep products and sums apart, as the CPU reference does (``--fmad=false``), instead of fusing them, which is
        faster and rounds once where the reference rounds twice.
    """
    macros = sources.defines(precision, n_layers)
    # CuPy's cache knows the text of a kernel, not that of the headers it includes: their hash must be in the options.
    macros["WEPL_SOURCES"] = f"0x{sources.digest()}ull"
    return ("--std=c++17", f"-I{sources.FOLDER}", f"--fmad={'false' if exact else 'true'}",
            *(f"-D{name}={value}" for name, value in macros.items()))


def source(kernel: str) -> str:
    """Text of the file that holds ``kernel``."""
    return (sources.FOLDER / sources.FILES[kernel]).read_text(encoding="utf-8")


def problem() -> str | None:
    """What keeps NVRTC from being used; None when it can be."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError) as error:  # The library is looked for at the first call.
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return None


def version() -> str:
    """NVRTC's name and version."""
    from cuda.bindings import nvrtc

    _, major, minor = nvrtc.nvrtcVersion()
    return f"NVRTC {major}.{minor}"


def compile_kernel(kernel: str, precision: str, n_layers: int, architecture: str, *, exact: bool = False,
                   more: tuple[str, ...] = ()) -> Compiled:
    """Compile one kernel to machine code.

    Parameters
    ----------
    kernel : str
        Name in :data:`wepl.kernels.sources.FILES`.
    precision, n_layers, exact
        See :func:`options`.
    architecture : str
        Such as ``sm_90``.
    more : tuple of str
        Further options of NVRTC, such as ``--maxrregcount=128``.

    Raises
    ------
    BackendError
        NVRTC is not installed or refuses the source; the message has its log.
    """
    fault = problem()
    if fault:
        raise BackendError(f"NVRTC cannot be used ({fault}): pip install cuda-bindings nvidia-cuda-nvrtc")
    given = (*options(precision, n_layers, exact=exact), *_CUPY_OPTIONS, f"--gpu-architecture={architecture}",
             "--ptxas-options=-v", *more)
    cubin, ptx, log = _nvrtc(source(kernel), sources.FILES[kernel], given)
    return Compiled(cubin, ptx, log, _resources(kernel, log))


def _nvrtc(text: str, name: str, given: tuple[str, ...]) -> tuple[bytes, str, str]:
    from cuda.bindings import nvrtc

    program = _result(nvrtc, nvrtc.nvrtcCreateProgram(text.encode(), name.encode(), 0, None, None))
    try:
        status, = nvrtc.nvrtcCompileProgram(program, len(given), [option.encode() for option in given])
        log = _text(nvrtc, "ProgramLog", program).decode()
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise BackendError(f"NVRTC refuses {name} ({status.name}):\n{log.strip()[:4000]}")
        return _text(nvrtc, "CUBIN", program), _text(nvrtc, "PTX", program).rstrip(b"\0").decode(), log
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _result(nvrtc: Any, answer: tuple[Any, ...]) -> Any:
    status, *rest = answer
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise BackendError(f"NVRTC: {status.name}")
    return rest[0] if rest else None


def _text(nvrtc: Any, what: str, program: Any) -> bytes:
    """One of the texts that a finished program gives: its size first, then the text into a buffer."""
    size = _result(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(program))
    buffer = bytes(size)
    _result(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return buffer.rstrip(b"\0") if what == "ProgramLog" else buffer


def _resources(kernel: str, log: str) -> Resources:
    """Numbers of ``ptxas -v`` on the kernel, without those of the functions it calls."""
    properties = re.search(rf"Function properties for {kernel}_kernel\s+ptxas\s+\.\s+(\d+) bytes stack frame, "
                           r"(\d+) bytes spill stores, (\d+) bytes spill loads\s+ptxas info\s+: Used (\d+) registers",
                           log)
    if properties is None:
        raise BackendError(f"the log of ptxas does not speak of {kernel}_kernel:\n{log.strip()[:2000]}")
    stack, stores, loads, registers = (int(number) for number in properties.groups())
    return Resources(registers, stack, stores, loads)


# PTX instructions by what limits them. Special functions run on units of their own, at a sixteenth to a quarter of the
# speed of a multiply-add; divisions and square roots that are rounded right are sequences of some ten instructions.
_KINDS = (
    ("special", re.compile(r"(rcp|rsqrt|sqrt|div|ex2|lg2|sin|cos|tanh)\.(?!u|s)\S*")),
    ("fp64", re.compile(r"(add|sub|mul|fma|mad|neg|abs|min|max|setp|selp|cvt)\.\S*f64\S*")),
    ("fp32", re.compile(r"(add|sub|mul|fma|mad|neg|abs|min|max|setp|selp|cvt)\.\S*f32\S*")),
    ("local", re.compile(r"(ld|st)\.local\.\S+")),
    ("global", re.compile(r"(ld|st)\.global\.\S+")),
    ("branch", re.compile(r"(bra|call|ret)\b\S*")),
)
_INSTRUCTION = re.compile(r"^\s+(?:@!?%p\d+\s+)?([a-z][a-z0-9_]*(?:\.[A-Za-z0-9_:]+)*)\s*[^:]*;")


def instruction_counts(ptx: str) -> Counter[str]:
    """Instructions of PTX text by kind: fp32, fp64, special, local and global memory, branch, other.

    It is a count of the text, each instruction once, whatever loop it stands in.
    """
    counts: Counter[str] = Counter()
    for line in ptx.splitlines():
        found = _INSTRUCTION.match(line)
        if found and not line.lstrip().startswith("."):
            word = found.group(1)
            counts[next((kind for kind, pattern in _KINDS if pattern.fullmatch(word)), "other")] += 1
    return counts
