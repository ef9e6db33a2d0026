"""What single objects say, for every rule: phase, owner, plan, content; nothing is decided here."""
