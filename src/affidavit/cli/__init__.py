"""The command line: one file a verb, imported when it is used; the only place that ends the process."""
