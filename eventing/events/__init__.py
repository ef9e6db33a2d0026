"""An event: its values, its encodings, its hints and trace, and the jobs that it becomes."""
