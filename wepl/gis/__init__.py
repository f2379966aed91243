"""Results and basins for geographic information systems."""
