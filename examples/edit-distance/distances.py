"""Edit distances between all pairs of the words in a file, with the table of each pair in an array."""

import argparse
import json
from pathlib import Path

import numpy as np


def edit_distance(a, b):
    """Insertions, deletions, substitutions and swaps of neighbours that turn a into b."""
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    table[:, 0] = np.arange(len(a) + 1)
    table[0, :] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            best = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                best = min(best, table[i - 2, j - 2] + 1)
            table[i, j] = best
    return int(table[len(a), len(b)])


def distance_matrix(words):
    """Symmetric matrix of all distances."""
    result = np.zeros((len(words), len(words)), dtype=np.int64)
    for i, first in enumerate(words):
        for j in range(i + 1, len(words)):
            result[i, j] = result[j, i] = edit_distance(first, words[j])
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", type=Path, help="a text file, one word a line")
    parser.add_argument("--close", type=int, default=3)
    args = parser.parse_args()
    words = args.words.read_text().split()
    distances = distance_matrix(words)
    np.save("distances.npy", distances)
    close = [
        [words[i], words[j], int(distances[i, j])]
        for i, j in np.argwhere((distances > 0) & (distances <= args.close))
        if i < j
    ]
    Path("close.json").write_text(json.dumps(close) + "\n")
    off = distances[np.triu_indices(len(words), k=1)]
    print(f"{len(words)} words, {len(off)} pairs, mean distance {off.mean():.4f}, {len(close)} close pairs")


if __name__ == "__main__":
    main()
