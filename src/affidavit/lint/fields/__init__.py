"""Keys of a config that nobody reads, where script and config together leave no doubt."""

from affidavit.lint.fields.unread import unread_keys

__all__ = ["unread_keys"]
