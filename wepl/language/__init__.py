"""What wepl says to people, in their language: one table of texts, looked up by key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from wepl.errors import InputError

LANGUAGES = ("en", "zh")


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
def _entries() -> dict[str, list[str]]:
    """Texts by key in the order of :data:`LANGUAGES`."""
    sections = tomllib.loads(files(__package__).joinpath("strings.toml").read_text(encoding="utf-8"))
    return {f"{section}.{name}": texts for section, entries in sections.items() for name, texts in entries.items()}
