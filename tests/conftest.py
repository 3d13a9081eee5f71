"""What every test has in common."""

from hypothesis import settings

pytest_plugins = ["tests.support.outcomes"]

# No time is an assertion: the machine may be busy with something else.
settings.register_profile("hearth", deadline=None)
settings.load_profile("hearth")
