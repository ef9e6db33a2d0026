"""What a user asks for: packages to install, upgrade, hold or remove; the only part of the verbs that writes."""
