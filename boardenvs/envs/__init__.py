"""Adapters from a `Game` to the interfaces that learners use; none of them knows a rule."""
