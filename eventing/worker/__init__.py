"""Runs queued jobs: workers, the scheduler, and the outlet to an external sink."""
