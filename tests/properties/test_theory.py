"""The theory pages and the code that cites them: equations, tests, navigation, and blocks that the page maker reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wepl import registry
from wepl.basin.vegetation import KINDS
from wepl.registry import document

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted((DOCS / "theory").glob("*.md"))
SOURCES = sorted((ROOT / "wepl").rglob("*.py"))
TEXT = {path: path.read_text(encoding="utf-8") for path in (*PAGES, *SOURCES)}
_NUMBER = r"\(?\d+\.\d+\)?"
# "eq. (4.2)", "eqs. 4.1 to 4.4", "eqs. (7.4) and (7.5)"; FAO-56 numbers its equations without a point.
_CITATION = re.compile(rf"\b[Ee]qs?\.\s+{_NUMBER}(?:(?:,\s+|\s+and\s+|\s+to\s+){_NUMBER})*")


def place(number: str) -> tuple[int, int]:
    section, equation = number.split(".")
    return int(section), int(equation)


def cited_in(text: str) -> set[tuple[int, int]]:
    """Equations that a text cites, ranges filled."""
    found: set[tuple[int, int]] = set()
    for citation in _CITATION.findall(text):
        previous = None
        for word, number in re.findall(r"(to\s+)?\(?(\d+\.\d+)", citation):
            section, equation = place(number)
            if word and previous is not None and previous[0] == section:
                found |= {(section, between) for between in range(previous[1], equation)}
            previous = (section, equation)
            found.add(previous)
    return found


def numbered() -> dict[tuple[int, int], list[str]]:
    """Pages of each numbered equation."""
    result: dict[tuple[int, int], list[str]] = {}
    for page in PAGES:
        for number in re.findall(r"\\tag\{(\d+\.\d+)\}", TEXT[page]):
            result.setdefault(place(number), []).append(page.name)
    return result


def test_citations_are_read():
    """The reader of citations itself."""
    assert cited_in("eq. (4.1), Snow") == {(4, 1)}
    assert cited_in("see eqs. 3.1 to 3.3; FAO-56 eq. 35") == {(3, 1), (3, 2), (3, 3)}
    assert cited_in("eqs. (9.4) and (10.1)") == {(9, 4), (10, 1)}
    assert cited_in("Eq. (2.2) and\n    (2.3)") == {(2, 2), (2, 3)}


def test_every_equation_has_one_number():
    assert {number: pages for number, pages in numbered().items() if len(pages) != 1} == {}
    assert len(numbered()) > 80


@pytest.mark.parametrize("path", [*SOURCES, *PAGES], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_cited_equations_exist(path):
    """In docstrings and comments of the code, and from page to page."""
    assert cited_in(TEXT[path]) - set(numbered()) == set()


def test_every_equation_is_cited_by_code():
    """Code that computes, beside its comparisons."""
    cited = set().union(*(cited_in(TEXT[path]) for path in SOURCES if "validation" not in path.parts))
    assert set(numbered()) - cited == set()


def test_the_list_of_pages_is_complete():
    """theory/index.md links every page and gives the range of its equations."""
    index = TEXT[DOCS / "theory" / "index.md"]
    for page in PAGES:
        if page.name == "index.md":
            continue
        row = re.search(rf"\({re.escape(page.name)}\) \|([^|]*)\|", index)
        assert row, f"theory/index.md has no row for {page.name}"
        own = [number for number, pages in numbered().items() if pages == [page.name]]
        given = [place(number) for number in re.findall(r"\d+\.\d+", row.group(1))]
        assert given == ([min(own), max(own)] if len(own) > 1 else own), page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_names_the_tests_that_prove_it(page):
    """Each page but the list and the parameters names tests, and they exist."""
    named = re.findall(r"`(tests/[\w/]+\.py)`", TEXT[page])
    assert [name for name in named if not (ROOT / name).is_file()] == []
    if page.name != "index.md":
        proof = re.search(r"^Proved by .*`tests/", TEXT[page], flags=re.MULTILINE)
        assert proof, f"{page.name} has no line 'Proved by ...'"


def test_every_page_is_in_the_navigation():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"[\w/-]+\.md", text[text.index("\nnav:"):])
    assert len(listed) == len(set(listed))
    assert set(listed) == {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.relative_to(DOCS).as_posix())
def test_display_equations_stand_alone(path):
    """A block of mathematics has blank lines around it, or the page maker reads it as part of the paragraph."""
    lines = path.read_text(encoding="utf-8").splitlines()
    inside = False
    for number, line in enumerate(lines):
        for _ in range(line.count("$$")):
            inside = not inside
            if inside:
                assert line.startswith("$$"), f"line {number + 1}: text before $$"
                assert number == 0 or lines[number - 1] == "", f"line {number + 1}: no blank line before $$"
            else:
                assert line.endswith("$$"), f"line {number + 1}: text after $$"
                assert number + 1 == len(lines) or lines[number + 1] == "", f"line {number + 1}: no blank line after $$"
    assert not inside, "an opening $$ is never closed"


def rows_of(page: Path) -> list[list[str]]:
    """Cells of all table rows of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def test_every_default_stands_with_the_parameters():
    """theory/parameters.md lists each default of the registry once, in the unit of files."""
    given = {row[0].strip("`"): row[1] for row in rows_of(DOCS / "theory" / "parameters.md") if row[0].startswith("`")}
    entries = [*registry.of_kind("parameter"), *registry.of_kind("option")]
    assert given == {entry.name: document._default(entry) for entry in entries if entry.default is not None}


def test_units_of_the_parameters():
    for row in rows_of(DOCS / "theory" / "parameters.md"):
        if row[0].startswith("`") and len(row) == 4:
            assert row[2] == registry.variable(row[0].strip("`")).file_units, row[0]


def test_vegetation_kinds_of_the_parameters():
    """Albedo, resistance, PARc, roots, Manning, depressions and degree-day factor of the built-in kinds."""
    names = [kind.name for kind in KINDS]
    given = {row[0]: [float(cell) for cell in row[1:]]
             for row in rows_of(DOCS / "theory" / "parameters.md") if row[0] in names}
    assert given == {kind.name: [kind.albedo, kind.resistance, kind.radiation, kind.root_depth, kind.manning,
                                 kind.depression, kind.degree_day] for kind in KINDS}
