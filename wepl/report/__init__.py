"""A report: one page that shows a result to people, with everything inside."""

from wepl.report.page import LIMIT, write_report

__all__ = ["LIMIT", "write_report"]
