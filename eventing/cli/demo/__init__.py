"""`olmf demo`: installs, upgrades and explains sample operators in a sandbox that is thrown away."""
