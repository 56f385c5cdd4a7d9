"""Takes pictures of every page of the browser tests, to be looked at and kept beside an earlier release's.

    python -m tests.report.shots FOLDER

Whether a page is beautiful is no test; whether it has changed can be seen from two such folders.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.report.browser import browser
from tests.report.test_html_browser import DESK, PHONE, pages

from affidavit.report.page import markup


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with browser() as opened:
        for name, dossier in pages().items():
            (folder / f"{name}.html").write_bytes(markup.render(dossier))
            for size in (DESK, PHONE):
                for scheme in ("light", "dark"):
                    page = opened.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
                    page.goto((folder / f"{name}.html").as_uri())
                    page.screenshot(path=folder / f"{name}-{size['width']}-{scheme}.png")
                    page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
