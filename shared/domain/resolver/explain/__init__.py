"""Explains an answer: `fixes` tells what is refused and what would help, `choices` why nothing newer is taken."""
