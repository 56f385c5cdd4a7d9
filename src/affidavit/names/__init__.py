"""Names before values: what a callable takes by name, and what becomes of a name that it does not take."""
