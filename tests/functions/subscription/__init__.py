"""Tests of the steps of subscription."""
