"""Helpers without any game: checks of values, texts with parameters, files."""
