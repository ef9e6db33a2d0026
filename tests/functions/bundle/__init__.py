"""Tests of the steps of bundle."""
