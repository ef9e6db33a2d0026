"""Objects as structs of Go hold and write them, and what these refuse."""
