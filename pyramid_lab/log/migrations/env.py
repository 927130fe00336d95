"""Alembic's environment: the caller gives an open connection and owns the transaction."""

from alembic import context

from pyramid_lab.log.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
)
context.run_migrations()
