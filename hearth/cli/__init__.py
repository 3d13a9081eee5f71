"""The hearth command."""
