"""Text for programs of others; `mcp` imports its library, which boardenvs does not install."""
