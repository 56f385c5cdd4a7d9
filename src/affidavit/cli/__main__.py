"""``python -m affidavit.cli`` is ``affidavit``, for an interpreter whose scripts are not on PATH."""

from affidavit.cli.main import main

main()
