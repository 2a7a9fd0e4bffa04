"""A leaderboard in a folder: games of anybody against the published anchors, and a page of ratings.

    added = add(Path("runs/board"), [Path("runs/arena/games/othello.jsonl")])
    print(added.new, added.refused)

`games` says which games count, `board` rates by them and writes the page.
"""

from boardenvs.leaderboard.board import Added, add

__all__ = ["Added", "add"]
