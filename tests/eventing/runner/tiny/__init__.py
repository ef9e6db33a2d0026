"""Steps of these tests: tiny, and nobody's else."""
