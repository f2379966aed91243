"""Languages of the command line: every text in both, the choice of one, and a run in Chinese."""

from __future__ import annotations

import inspect
import re

import pytest
import typer
from typer.testing import CliRunner

from wepl import language
from wepl.cli import app
from wepl.errors import BackendError, BasinError, InputError, NumericalError, WriteError
from wepl.language import columns, current, help_texts, pad, table, use
from wepl.run.balance_report import BalanceReport, Closure, Terms

HAN = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(autouse=True)
def language_of_the_test(monkeypatch):
    monkeypatch.delenv(language.VARIABLE, raising=False)
    yield
    use(None)


def texts_of_the_application() -> set[str]:
    group = typer.main.get_command(app)
    found = set()
    for item in (group, *group.params, *group.commands.values(),
                 *(parameter for command in group.commands.values() for parameter in command.params)):
        found |= {inspect.cleandoc(text) for part in ("help", "short_help") if (text := getattr(item, part, None))}
    return found


def test_every_help_text_is_translated():
    texts = texts_of_the_application()
    assert texts - set(help_texts()) == set(), "add these to wepl/language/help.toml"
    assert set(help_texts()) - texts == set(), "take these out of wepl/language/help.toml"
    assert all(HAN.search(text) for text in help_texts().values())


def test_every_text_of_commands_and_runs_is_translated():
    keys = {key for key in table("en") if key.startswith(("cli.", "hint.", "run."))}
    assert len(keys) > 30
    assert [key for key in keys if not HAN.search(table("zh")[key])] == []
    assert {f"hint.{kind.__name__}" for kind in
            (InputError, BasinError, BackendError, NumericalError, WriteError)} == {k for k in keys if k[:4] == "hint"}


def test_the_line_goes_before_the_environment(monkeypatch):
    assert current() == "en"
    monkeypatch.setenv(language.VARIABLE, "zh_CN.UTF-8")
    assert current() == "zh"
    use("en")
    assert current() == "en"


@pytest.mark.parametrize("arguments", [["--lang", "zh", "run", "--help"], ["run", "--lang=zh", "--help"],
                                       ["run", "--help", "--lang", "zh-CN"]])
def test_help_in_chinese(arguments):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert "用法: wepl run" in result.output.replace("root", "wepl") and "率定乘子" in result.output
    assert "默认：zstd" in result.output and "Options" not in result.output
    assert all(columns(line) <= 80 for line in result.output.splitlines() if HAN.search(line))


def test_help_of_the_group_in_chinese(monkeypatch):
    monkeypatch.setenv(language.VARIABLE, "zh")
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0 and "命令:" in result.output and "对一个流域运行模型" in result.output


def test_the_next_command_is_english_again():
    assert "用法" in CliRunner().invoke(app, ["--lang", "zh", "--help"]).output
    assert CliRunner().invoke(app, ["--help"]).output.startswith("Usage:")


@pytest.mark.parametrize("arguments", [["--lang", "fr", "run"], ["run", "--lang"]])
def test_unknown_language(arguments):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2 and "choose en or zh" in result.output


def test_an_argument_after_two_dashes_is_no_language():
    result = CliRunner().invoke(app, ["info", "--", "--lang"])
    assert result.exit_code == 2 and "--lang" in result.output and "choose en or zh" not in result.output


def test_an_error_in_chinese(tmp_path):
    result = CliRunner().invoke(app, ["--lang", "zh", "run", str(tmp_path / "none.nc")])
    assert result.exit_code == 2
    assert result.stderr.startswith("wepl: 错误：") and "none.nc" in result.stderr
    assert "请按上述提示修改输入" in result.stderr


def test_a_broken_basin_in_chinese(tmp_path):
    (tmp_path / "notes.txt").write_text("no basin")
    result = CliRunner().invoke(app, ["check", str(tmp_path / "notes.txt"), "--lang", "zh"])
    assert result.exit_code == 2 and "不符" in result.output + result.stderr or "错误：" in result.stderr


def test_the_balance_in_chinese_stands_in_columns():
    terms = Terms(1e9, {"precipitation_depth": 1e9, "rainfall": 9e8, "snowfall": 1e8},
                  {"canopy_evaporation": 1e8, "transpiration": 3e8, "soil_evaporation": 5e7, "snow_sublimation": 1e6,
                   "surface_evaporation": 2e6, "open_water_evaporation": 3e6},
                  {"overland_inflow": 1e8, "interflow": 1e8, "groundwater_discharge": 3e8},
                  {"canopy_a": 1.0, "snow_ice": 1.0, "surface_storage": 2.0, "soil_water": 3.0, "overland_depth": 1.0,
                   "transition_storage": 5.0, "groundwater_head": 7.0, "river_storage": 9.0}, 5e8, 0.0, 1e-3)
    report = BalanceReport(terms, (Closure("all", "basin", "the basin", 1e-3, 1e-12, 1e-15),), None, None)
    english = report.text.splitlines()
    use("zh")
    chinese = report.text.splitlines()
    assert len(chinese) == len(english) and all(HAN.search(line) for line in chinese)
    assert not any(re.search("[a-z]{3}", line) for line in chinese[1:-1])
    assert len({columns(line) for line in chinese[:-1]}) == 1
    assert [line.split()[-2:] for line in chinese[1:-1]] == [line.split()[-2:] for line in english[1:-1]]


def test_padding_counts_two_columns_for_a_chinese_character():
    assert columns(pad("降水", 10)) == 10 and columns("mm降") == 4


def test_commands_without_help_of_their_own_stay_whole():
    # a text that is not in the table is shown in English, not lost
    assert help_texts().get("not there", "not there") == "not there"
