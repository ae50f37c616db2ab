"""Tables as the benchmarks print them."""


def show(table: list[list[str]], sides: str) -> None:
    """Prints rows of cells, the columns aligned to these sides (< or >)."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    layout = "  ".join(f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True))
    for line in table:
        print(layout.format(*line).rstrip())


def met(table: list[list[str]]) -> str:
    """How many targets were met: the last column says "yes" or "NO" where there is one, below its head."""
    verdicts = [line[-1] for line in table[1:] if line[-1]]
    return f"{verdicts.count('yes')} of {len(verdicts)} targets met"
