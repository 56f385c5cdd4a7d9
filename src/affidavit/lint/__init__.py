"""What can be said of a project before anything runs: its files read as text, held against what is installed."""
