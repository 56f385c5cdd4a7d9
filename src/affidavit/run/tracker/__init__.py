"""What an experiment tracker remembers of a seal: one tag on the tracker's own run, where its server keeps it."""
