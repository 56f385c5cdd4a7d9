"""Renders a case, its findings and the decision; decides nothing.

Every renderer returns :class:`~affidavit.report.terminal.Line` objects or plain data. Only
:func:`~affidavit.report.terminal.draw` makes terminal text of lines, so that whatever a run wrote into its facts
(a path, a token, a reason) is made harmless in one place.
"""
