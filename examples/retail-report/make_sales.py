"""Write a chain store's sales, products and stores as Parquet files."""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

CATEGORIES = ["bakery", "dairy", "drinks", "frozen", "garden", "household", "meat", "produce", "snacks", "toys"]
REGIONS = ["north", "east", "south", "west", "centre"]


def products(rng, count):
    """One row a product: category, brand, list price and what it costs the chain."""
    price = rng.integers(99, 9_999, count)
    return pd.DataFrame(
        {
            "product_id": np.arange(count, dtype=np.int32),
            "category": rng.choice(CATEGORIES, count),
            "brand": [f"brand-{number:03d}" for number in rng.integers(0, 200, count)],
            "price_cents": price.astype(np.int64),
            "cost_cents": (price * rng.integers(45, 85, count) // 100).astype(np.int64),
        }
    )


def stores(rng, count):
    """One row a store: region and floor space."""
    return pd.DataFrame(
        {
            "store_id": np.arange(count, dtype=np.int32),
            "region": rng.choice(REGIONS, count),
            "square_metres": rng.integers(200, 4_000, count).astype(np.int64),
        }
    )


def sales(rng, rows, product_count, store_count):
    """One row a receipt line, day by day; every hundredth is a return."""
    day = np.sort(rng.integers(0, 365, rows))
    second = np.clip(rng.normal(13.5, 3.0, rows), 7.0, 20.99) * 3600.0
    seconds = day * 24 * 3600 + second.astype(np.int64)
    quantity = rng.integers(1, 7, rows).astype(np.int64)
    quantity[rng.random(rows) < 0.01] *= -1
    popular = rng.beta(0.6, 2.0, rows) * product_count
    return pd.DataFrame(
        {
            "sold_at": np.datetime64("2025-01-01T00:00:00", "s") + seconds.astype("timedelta64[s]"),
            "store_id": rng.integers(0, store_count, rows).astype(np.int32),
            "product_id": popular.astype(np.int32),
            "customer_id": rng.integers(0, max(rows // 40, 1), rows).astype(np.int32),
            "quantity": quantity,
            "discount_pct": rng.choice(np.array([0, 0, 0, 5, 10, 20], dtype=np.int64), rows),
        }
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=30_000_000, help="receipt lines")
    parser.add_argument("--products", type=int, default=20_000)
    parser.add_argument("--stores", type=int, default=300)
    parser.add_argument("--seed", type=int, default=2025)
    parser.add_argument("--out", type=Path, default=Path("data"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(args.seed)
    products(rng, args.products).to_parquet(args.out / "products.parquet", index=False)
    stores(rng, args.stores).to_parquet(args.out / "stores.parquet", index=False)
    lines = sales(rng, args.rows, args.products, args.stores)
    lines.to_parquet(args.out / "sales.parquet", index=False)
    print(f"{args.out}: {len(lines)} receipt lines of {args.products} products in {args.stores} stores")


if __name__ == "__main__":
    main()
