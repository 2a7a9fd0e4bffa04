"""MCP: the official client starts `boardenvs mcp`, and wins Wolf and Sheep by its tools."""
# uv venv --allow-existing .venv-examples/mcp && . .venv-examples/mcp/bin/activate \
#     && uv pip install mcp==2.0.0 --editable . && python training/examples/mcp_client.py

import asyncio
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

SERVER = StdioServerParameters(command=sys.executable, args=["-m", "boardenvs", "mcp"])


async def main():
    async with Client(stdio_client(SERVER)) as client:

        async def call(tool, **arguments):
            """Return the text that a tool returns."""
            result = await client.call_tool(tool, arguments)
            return "\n".join(part.text for part in result.content)

        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools == ["new_game", "board", "legal_moves", "play", "analyse"], tools
        told = await call("new_game", game="wolf_and_sheep", seat="sheep", seed=1)
        assert "You play Wolf and Sheep. You are sheep" in told, told
        moves = 0
        while "The game is over" not in told:
            analysis = await client.call_tool("analyse", {"moves": 1})
            best = analysis.structured_content["moves"][0]["move"]
            legal = await client.call_tool("legal_moves", {})
            assert best in legal.structured_content["result"], (best, legal)
            told = await call("play", move=best)
            moves += 1
        print(f"after {moves} moves: {told}")
        assert "You have won" in told, told


asyncio.run(main())
