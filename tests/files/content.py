"""A netCDF file as Python has it, to be changed and written again."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np


@dataclass
class Content:
    """A netCDF file as Python has it: dimensions, global attributes, and variables by name."""

    dims: dict[str, int | None]
    attributes: dict[str, Any]
    variables: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Content:
        """Everything in a file."""
        with netCDF4.Dataset(path) as file:
            file.set_auto_maskandscale(False)
            content = cls({name: dim.size for name, dim in file.dimensions.items()},
                          {name: file.getncattr(name) for name in file.ncattrs()})
            for name, variable in file.variables.items():
                content.variables[name] = {
                    "dims": variable.dimensions, "values": np.asarray(variable[...]), "kind": variable.dtype,
                    "attributes": {key: variable.getncattr(key) for key in variable.ncattrs()}}
        return content

    def write(self, path: Path, form: str = "NETCDF4") -> None:
        """A file that holds it; raises what the library raises where it cannot be."""
        with netCDF4.Dataset(path, "w", format=form) as file:
            for name, size in self.dims.items():
                file.createDimension(name, size)
            file.setncatts(self.attributes)
            for name, entry in self.variables.items():
                attributes = dict(entry["attributes"])
                fill = attributes.pop("_FillValue", None)
                kind = entry["kind"]
                order = {">": "big", "<": "little"}.get(kind[0] if isinstance(kind, str) else "", "native")
                variable = file.createVariable(name, kind, entry["dims"], fill_value=fill, endian=order)
                variable.set_auto_maskandscale(False)
                variable.setncatts(attributes)
                if entry["values"] is not None:
                    shape = tuple(file.dimensions[dim].size or 1 for dim in entry["dims"])
                    variable[...] = np.resize(entry["values"], shape)
