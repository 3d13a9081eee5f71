"""The live runner: one probe per claim that evidence makes."""
