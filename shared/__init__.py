"""What both sides use: values, ports, API models, pure domain rules and adapters."""
