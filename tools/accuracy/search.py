"""Climbs towards the largest errors: random points would meet a narrow ridge only by luck."""

START = 1200  # random points at first
KEPT = 15  # worst ones kept from round to round
CHILDREN = 2  # new points next to each of them
ROUNDS = 16
WIDTH, SHRINK = (
    0.05,
    0.82,
)  # how far from it, of the side of the square; and how that shrinks each round


def climb(place, measure, quantities, rng):
    """For each quantity the largest error found and where: (error, point).

    `place` maps the unit square to points, `measure` maps a list of points to lists of errors, one a quantity; what is
    None is left out.
    """

    def measured(squares):
        points = [place(*square) for square in squares]
        found = zip(squares, points, measure(points), strict=True)
        return [entry for entry in found if entry[2] is not None]

    first = measured([(rng.random(), rng.random()) for _ in range(START)])
    for quantity in range(quantities):
        worst, width = keep_worst(first, quantity), WIDTH
        for _ in range(ROUNDS):
            squares = [nearby(entry[0], width, rng) for entry in worst for _ in range(CHILDREN)]
            worst = keep_worst(worst + measured(squares), quantity)
            width *= SHRINK
        yield (worst[0][2][quantity], worst[0][1]) if worst else (float("nan"), None)


def keep_worst(entries, quantity):
    """The entries with the largest errors."""
    return sorted(entries, key=lambda entry: -entry[2][quantity])[:KEPT]


def nearby(square, width, rng):
    """A random place close to another one in the unit square."""
    return tuple(min(1.0, max(0.0, side + rng.gauss(0, width))) for side in square)
