"""The status of a package: what is installed, what it waits for, what helps."""
