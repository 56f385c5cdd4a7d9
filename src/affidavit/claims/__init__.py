"""Numbers in text: what they say, which measurement they are bound to, and where an old one still stands."""
