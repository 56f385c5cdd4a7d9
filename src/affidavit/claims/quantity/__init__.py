"""Quantities in text: a number with a unit of a closed set, what it is in the base unit, and how exactly it is said."""

from affidavit.claims.quantity.quantity import Quantity, in_form, same
from affidavit.claims.quantity.reader import quantities, quantity_of

__all__ = ["Quantity", "in_form", "quantities", "quantity_of", "same"]
