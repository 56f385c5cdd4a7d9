"""Launchers read as text: the commands of a shell script, and the options that they give to scripts of the project."""

from affidavit.lint.shell.command import UNSEEN, Command, Word
from affidavit.lint.shell.launch import Launch, launch
from affidavit.lint.shell.reader import commands
from affidavit.lint.shell.reading import LauncherReading, read_command, read_launchers

__all__ = [
    "UNSEEN",
    "Command",
    "Launch",
    "LauncherReading",
    "Word",
    "commands",
    "launch",
    "read_command",
    "read_launchers",
]
