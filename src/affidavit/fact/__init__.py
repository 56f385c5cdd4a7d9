"""What can be said about a run: values, the vocabulary, observations and the journal.

Standard library only and Python >= 3.10, because this half runs in the user's training environment.
"""

VERSION = "0.1.0"
"""Of Affidavit as a whole; it stands in every record, so it lives where both halves can reach it."""
