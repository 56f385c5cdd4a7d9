"""What can be said about a run: values, the vocabulary, observations and the journal.

Standard library only and Python >= 3.10, because this half runs in the user's training environment.
"""
