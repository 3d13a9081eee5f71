"""What a claim means: what exists and how it connects, resolved once, typed, and without a text of any artefact."""
