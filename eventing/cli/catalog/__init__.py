"""The verbs of `olmf catalog`: one module each, with a `register`."""
