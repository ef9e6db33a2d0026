"""The status of a package: what is installed, what it waits for, why, what helps (README of the folder above)."""
