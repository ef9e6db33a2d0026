"""What `opm` does: validation, templates, pictures and writing of bundles and catalogs; nothing else imports it."""
