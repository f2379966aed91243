"""From maps and stations to a basin file: terrain, land, soil and forcing of a catchment."""
