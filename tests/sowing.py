import boardenvs

PITS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12)  # the square of each action


class Sowing:
    """Sow the seeds of a pit, one into each pit after it; more seeds at the end win."""

    roles, shape, largest = ("south", "north"), (2, 7), 48
    actions = tuple(f"{file}{rank}" for rank in (1, 2) for file in "abcdef")

    def __init__(self, squares=(4, 4, 4, 4, 4, 4, 0) * 2, to_move=0):
        self.squares, self.to_move = squares, to_move
        self.is_over = not (any(squares[:6]) and any(squares[7:13]))
        self.result = sum(squares[:7]), sum(squares[7:])

    def legal_actions(self):
        return [a for a, pit in enumerate(PITS) if pit // 7 == self.to_move and self.squares[pit]]

    def step(self, action):
        squares, place, store = list(self.squares), PITS[action], 7 * self.to_move + 6
        seeds, squares[place] = squares[place], 0
        while seeds:
            place = (place + 1) % 14
            if place != 19 - store:  # not into the other side's store
                squares[place] += 1
                seeds -= 1
        if squares[place] == 1 and store - 6 <= place < store:  # captures the pit across
            squares[store] += squares[12 - place]
            squares[12 - place] = 0
        return Sowing(squares, self.to_move if place == store else 1 - self.to_move)


if __name__ == "__main__":
    from training.ppo import train
    from training.run_settings import PPOConfig

    train(PPOConfig(name="sowing", game="sowing:Sowing", steps=200_000), overwrite=True)
    trained = "policy:runs/sowing/policy.npz"
    print(boardenvs.play_match("sowing:Sowing", trained, "greedy", pairs=50))
