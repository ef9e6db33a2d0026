"""The verbs of `olmf bundle`: one module each, with a `register`."""
