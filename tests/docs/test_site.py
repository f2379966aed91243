"""The docs: pages made from the code are up to date, links lead somewhere, the site is built without a warning."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from wepl.cli import document

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
READMES = (ROOT / "README.md", ROOT / "README.zh.md")
HAN = re.compile(r"[\u4e00-\u9fff]")
NEEDED = ("material", "mkdocstrings", "l2m4m")


def test_the_page_of_the_command_line_is_up_to_date(capsys):
    assert document.main(["--check"]) == 0, capsys.readouterr().err


def test_an_old_page_is_found_and_made_anew(tmp_path, capsys):
    page = tmp_path / "cli.md"
    assert document.main(["--check", "--page", str(page)]) == 1
    assert "python -m wepl.cli.document" in capsys.readouterr().err
    assert document.main(["--page", str(page)]) == 0
    assert document.main(["--check", "--page", str(page)]) == 0
    assert document.main(["--page", str(tmp_path / "none" / "cli.md")]) == 2


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.name)
def test_links_of_the_readmes_lead_to_files(readme):
    links = re.findall(r"\]\(([^)#]+)\)", readme.read_text(encoding="utf-8"))
    assert len(links) > 10
    assert [link for link in links if not link.startswith("https://") and not (ROOT / link).exists()] == []


def test_the_readmes_hold_the_same_commands():
    english, chinese = (path.read_text(encoding="utf-8") for path in READMES)
    for command in ("pip install -e '.[test]' && .venv/bin/pytest", "--backends cupy,numba-cuda --precisions"):
        assert command in english and command in chinese
    assert len(HAN.findall(chinese)) > 1000
    words = "产流 汇流 子流域 等高带 单元 蒸散发 下渗 超渗 蓄满 壤中流 基流 地下水 率定 验证 径流深".split()
    assert [word for word in words if word not in chinese] == []


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    named = set(re.findall(r"[\w/-]+\.md", navigation))
    assert pages == named


def test_every_command_stands_in_the_readme():
    readme = READMES[0].read_text(encoding="utf-8")
    names = re.findall(r"^## wepl (\w+)$", document.page(), flags=re.MULTILINE)
    assert len(names) > 10
    assert [name for name in names if f"`wepl {name}" not in readme] == []


@pytest.mark.skipif(any(find_spec(name) is None for name in NEEDED), reason="the extra docs is not installed")
def test_the_site_is_built_without_a_warning_and_asks_nothing_of_the_network(tmp_path):
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
                          cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
                          env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) >= len(list(DOCS.rglob("*.md")))
    asked = re.compile(r"<(?:script|img|iframe)[^>]*\ssrc=\"?https?:|<link[^>]*rel=\"?stylesheet[^>]*href=\"?https?:")
    assert [page.name for page in pages if asked.search(page.read_text(encoding="utf-8"))] == []
    reference = (tmp_path / "api.html").read_text(encoding="utf-8")
    assert "wepl.basin.dataset.Basin" in reference and "wepl.errors.InputError" in reference
    assert ":func:" not in reference and "\\|" not in (tmp_path / "cli.html").read_text(encoding="utf-8")
    assert "<math" in (tmp_path / "theory" / "snow.html").read_text(encoding="utf-8")
