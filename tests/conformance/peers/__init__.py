"""End-to-end suites that our peers wrote for their own programs, run against ours."""
