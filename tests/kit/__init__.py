"""Fakes and builders that the tests share."""
