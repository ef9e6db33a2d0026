"""Tests of the steps of install_plan."""
