"""The half that lives in the training process: it finds, listens, writes, and never changes the run.

Standard library only and Python >= 3.10. Nothing here knows a framework; adapters bring those.
"""
