"""Hypothesis for the unit tests: the same examples each time, and no deadline on a busy machine."""

from hypothesis import settings

settings.register_profile("unit", derandomize=True, deadline=None)
settings.load_profile("unit")
