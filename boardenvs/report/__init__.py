"""Reports of a tournament, a training or an exam, all made in the same way.

`ReportTable` is a table for the terminal, Markdown and notebooks; `Document` composes headings,
text, tables and pictures, and writes report.md and report.html; `boardenvs.report.figures` has the
style of pictures. Nothing here knows what a report is about.
"""

from boardenvs.report.document import Document
from boardenvs.report.table import ReportTable

__all__ = ["Document", "ReportTable"]
