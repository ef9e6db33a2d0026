"""Steps that find the objects which a change affects, and notify the steps of these."""
