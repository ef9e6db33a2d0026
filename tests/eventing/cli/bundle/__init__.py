"""Tests of `olmf bundle`."""
