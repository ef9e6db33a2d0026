"""The contract: what OLM, `opm` and OLM v1 do, row by row, and which test shows each row."""
