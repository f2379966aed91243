"""What wepl says to people, in their language: one table of texts, looked up by key.

``strings.toml`` holds texts by key in all languages, ``help.toml`` the help of the command line by its English text.
The language is the one chosen with :func:`use` (``--lang``), else the one that ``WEPL_LANG`` names, else English.
"""

from __future__ import annotations

import os
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from wepl.errors import InputError

LANGUAGES = ("en", "zh")
VARIABLE = "WEPL_LANG"

_chosen: str | None = None


def use(language: str | None) -> None:
    """Choose the language of all that follows; None leaves the choice to ``WEPL_LANG``.

    Raises
    ------
    InputError
        The language is not in the table.
    """
    global _chosen
    _chosen = None if language is None else _known(language, "--lang")


def current() -> str:
    """The language in use.

    Raises
    ------
    InputError
        ``WEPL_LANG`` names a language that is not in the table.
    """
    return _chosen or _known(os.environ.get(VARIABLE) or LANGUAGES[0], VARIABLE)


def say(key: str, **values: object) -> str:
    """A text of the table in the language in use; see :func:`translate`."""
    return translate(key, current(), **values)


def pad(text: str, width: int) -> str:
    """The text with spaces up to a width in columns of a terminal, where a Chinese character takes two."""
    return text + " " * (width - columns(text))


def columns(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def translate(key: str, language: str = "en", **values: object) -> str:
    """A text of the table in one language.

    Parameters
    ----------
    key : str
        Section and name in ``strings.toml``, such as ``report.title``.
    language : str
        One of :data:`LANGUAGES`.
    **values
        What stands in braces in the text, such as ``name`` for ``{name}``.

    Raises
    ------
    InputError
        The language is not in the table.
    KeyError
        The table has no such key.
    """
    text = table(language)[key]
    return text.format(**values) if values else text


@cache
def table(language: str) -> Mapping[str, str]:
    """All texts of one language by key.

    Raises
    ------
    InputError
        The language is not in the table.
    """
    if language not in LANGUAGES:
        raise InputError(f"unknown language {language!r}: choose {' or '.join(LANGUAGES)}")
    return {key: texts[LANGUAGES.index(language)] for key, texts in _entries().items()}


@cache
def help_texts() -> Mapping[str, str]:
    """Help of the command line in Chinese by its English text."""
    texts: dict[str, str] = tomllib.loads(files(__package__).joinpath("help.toml").read_text(encoding="utf-8"))
    return texts


def _known(language: str, where: str) -> str:
    """The language of a name such as ``zh``, ``zh-CN`` or ``zh_CN.UTF-8``."""
    name = language.lower().replace("_", "-").split(".")[0].split("-")[0]
    if name not in LANGUAGES:
        raise InputError(f"{where} {language}: choose {' or '.join(LANGUAGES)}")
    return name


@cache
def _entries() -> dict[str, list[str]]:
    """Texts by key in the order of :data:`LANGUAGES`."""
    sections = tomllib.loads(files(__package__).joinpath("strings.toml").read_text(encoding="utf-8"))
    return {f"{section}.{name}": texts for section, entries in sections.items() for name, texts in entries.items()}
