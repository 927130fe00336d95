"""Numbered migrations of the log's schema, run by :func:`pyramid_lab.log.schema.upgrade`."""
