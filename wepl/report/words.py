"""Names of variables and units as people read them."""

from __future__ import annotations

import re

from wepl import registry
from wepl.language import table, translate
from wepl.report.read import Quantity

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def quantity_name(quantity: Quantity, language: str) -> str:
    """Name of a variable, with its soil layer where it has one."""
    name = variable_name(quantity.name, language)
    return name if quantity.layer < 0 else translate("report.layer", language, name=name, number=quantity.layer + 1)


def variable_name(name: str, language: str) -> str:
    """Name of a variable: of the table, or the registry's."""
    found = table(language).get(f"variable.{name}")
    return found if found is not None else registry.variable(name).long_name


def unit_text(units: str) -> str:
    """A unit with raised exponents, such as m³ s⁻¹; empty for numbers without one."""
    text = {"1": "", "degC": "°C", "degrees_east": "°", "degrees_north": "°"}.get(units, units)
    return re.sub(r"(?<=[a-zA-Z])(-?\d+)", lambda found: found.group(1).translate(_SUPERSCRIPT), text)
