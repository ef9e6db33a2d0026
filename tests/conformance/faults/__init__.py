"""What may go wrong, tried one after the other, and what became of it: FAULTS.md."""
