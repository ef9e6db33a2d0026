"""What serves for the API server: certificates, Services, webhooks and aggregated APIs of an operator (csv.md §7)."""
