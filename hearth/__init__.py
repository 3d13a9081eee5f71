"""Hearth provisions a private LLM platform from one typed claim per environment."""
