"""Write a list of invented words, some of them misspelt forms of others."""

import argparse
import random

ONSETS = ["b", "br", "d", "f", "gr", "k", "l", "m", "pl", "s", "st", "t", "v"]
VOWELS = ["a", "e", "i", "o", "u", "ai", "ou"]


def word(rng):
    """Three or four syllables."""
    return "".join(rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(rng.choice((3, 4))))


def misspelt(rng, text):
    """The word with two neighbours swapped or one letter left out."""
    at = rng.randrange(len(text) - 1)
    if rng.random() < 0.5:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + text[at + 1 :]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--out", default="words.txt")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    words = [word(rng) for _ in range(args.count * 3 // 4)]
    words += [misspelt(rng, rng.choice(words)) for _ in range(args.count - len(words))]
    with open(args.out, "w", encoding="utf-8") as file:
        file.write("\n".join(words) + "\n")


if __name__ == "__main__":
    main()
