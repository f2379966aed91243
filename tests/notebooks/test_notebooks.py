"""The notebooks: as they are stored, and each executed from its folder without an error, a warning or a file left.

Sources: docs/notebooks.md says what they show. What a notebook prints is not compared; its own assertions count.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
NAMES = ["01_quickstart", "02_poyang", "03_gpu_and_cpu", "04_maps_to_basin", "05_calibration", "06_your_own_process"]
# Of a cell: the first run on a machine compiles the model.
SECONDS = 900


def read(name: str) -> nbformat.NotebookNode:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def sources() -> dict[str, bytes]:
    """Content of what a notebook could spoil: physics and its translations, data, notebooks."""
    folders = ("wepl/physics", "wepl/stages", "kernels", "data", "notebooks", "docs/benchmarks")
    return {str(path): path.read_bytes() for folder in folders
            for path in sorted((ROOT / folder).rglob("*")) if path.is_file() and "__pycache__" not in path.parts}


def test_all_are_here():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == NAMES
    assert {path.suffix for path in FOLDER.iterdir() if path.is_file()} == {".ipynb"}


@pytest.mark.parametrize("name", NAMES)
def test_stored_without_output(name):
    """No outputs, counters or metadata of a machine; stable, speaking identifiers; lines that a review can read."""
    notebook = read(name)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"
    assert dict(notebook.metadata.language_info) == {"name": "python"}
    for cell in notebook.cells:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", cell.id), cell.id
        assert not cell.metadata
        assert all(len(line) <= 120 for line in cell.source.splitlines()), cell.id
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None, cell.id


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    for cell in read(name).cells:
        if cell.cell_type == "markdown":
            for target in re.findall(r"\]\(([^)#]+)\)", cell.source):
                assert (FOLDER / target).exists(), target


@pytest.mark.parametrize("name", NAMES)
def test_runs_clean(name):
    before = sources()
    notebook = read(name)
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3",
                   resources={"metadata": {"path": str(FOLDER)}}).execute()
    said = {cell.id: output.text for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
            if output.output_type == "stream" and output.name == "stderr"}
    assert said == {}
    pictures = [cell.id for cell in notebook.cells if cell.cell_type == "code"
                if any("image/png" in output.get("data", {}) for output in cell.outputs)]
    assert len(pictures) >= 2
    after = sources()
    assert [name for name in before | after if before.get(name) != after.get(name)] == []
