"""As much of MLflow as is asked of it, over one JSON file, so that a table of rows costs no import of the real one."""
