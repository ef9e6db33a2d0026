"""Tests of the steps of catalog_source."""
