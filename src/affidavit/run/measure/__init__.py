"""Takes measurements: runs a command, or is told a number, and keeps it with everything that it was true of."""
