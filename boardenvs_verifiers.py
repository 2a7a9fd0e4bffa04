"""The id that trainers load: `verifiers` imports a plugin by the name of a module at the top."""

from boardenvs.text.adapters.verifiers import BoardTaskset, TextBoardEnv
from boardenvs.text.adapters.verifiers_harness import OneTurnHarness

__all__ = ["BoardTaskset", "OneTurnHarness", "TextBoardEnv"]
