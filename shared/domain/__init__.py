"""Pure rules: values in, values out."""
