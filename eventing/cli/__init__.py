"""The command line `olmf`: each verb calls one documented function."""
