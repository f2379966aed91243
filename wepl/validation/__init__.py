"""Every numerical comparison of the model with outside numbers and independent solutions.

``python -m wepl.validation`` computes them and writes docs/validation.md; ``--check`` exits with 1 when one fails or
the page is out of date. Each module holds the tables of one process as
:class:`~wepl.validation.comparison.Group` entries; :func:`~wepl.validation.comparison.compare` is the one runner.
"""
