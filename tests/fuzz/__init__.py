"""Inputs of all kinds, right and wrong, and what no input may do."""
