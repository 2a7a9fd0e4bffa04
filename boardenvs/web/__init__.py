"""The page in the browser: play any agent, look inside its head, step through recorded games.

README.md says how it is built; `boardenvs web` serves it.
"""

from boardenvs.utils.imports import extra

with extra("web"):
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
    import websockets  # noqa: F401
