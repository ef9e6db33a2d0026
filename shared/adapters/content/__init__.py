"""Catalogs and bundles from images and folders, kept by digest."""
