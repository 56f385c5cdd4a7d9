"""The facts of one subject: merged, sealed, corrected, compared."""
