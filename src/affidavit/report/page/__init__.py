"""The report as one file for a browser: no script, no request, nothing in it that a run's own text could start.

A :class:`~affidavit.report.page.dossier.Dossier` is all that is drawn. ``share`` makes one that strangers may read,
and the page is drawn of it by the same code, so that nothing has to remember what must not be told.
"""
