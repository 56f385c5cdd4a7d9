"""How the rows are made ready; imported by `imports_helper.py`."""


def prepare(row: dict) -> dict:
    """Keep the first exchange of a chat."""
    return {"messages": row["messages"][:2]}
