"""Yearly report of a chain store: revenue and margin by store, category and month, best customers, slow sellers.

Money is counted in cents, as integers.
"""

import argparse
from pathlib import Path

import pandas as pd


def load(folder):
    """The three tables."""
    sales = pd.read_parquet(folder / "sales.parquet")
    products = pd.read_parquet(folder / "products.parquet")
    stores = pd.read_parquet(folder / "stores.parquet")
    return sales, products, stores


def enrich(sales, products, stores):
    """Receipt lines with the product's and the store's columns, and money per line."""
    lines = sales.merge(products, on="product_id", how="inner").merge(stores, on="store_id", how="inner")
    lines["revenue_cents"] = lines["price_cents"] * lines["quantity"] * (100 - lines["discount_pct"]) // 100
    lines["margin_cents"] = lines["revenue_cents"] - lines["cost_cents"] * lines["quantity"]
    lines["month"] = lines["sold_at"].dt.month
    lines["hour"] = lines["sold_at"].dt.hour
    return lines


def by_store(lines):
    """Totals of each store, best revenue per square metre first."""
    table = lines.groupby(["store_id", "region"], as_index=False).agg(
        lines=("quantity", "size"),
        units=("quantity", "sum"),
        revenue_cents=("revenue_cents", "sum"),
        margin_cents=("margin_cents", "sum"),
        square_metres=("square_metres", "max"),
    )
    table["revenue_per_metre"] = table["revenue_cents"] / table["square_metres"] / 100.0
    return table.sort_values(["revenue_per_metre", "store_id"], ascending=[False, True]).reset_index(drop=True)


def by_category(lines):
    """Totals and means of each category and month."""
    table = lines.groupby(["category", "month"], as_index=False).agg(
        units=("quantity", "sum"),
        revenue_cents=("revenue_cents", "sum"),
        mean_line_cents=("revenue_cents", "mean"),
        mean_discount=("discount_pct", "mean"),
    )
    return table.sort_values(["category", "month"]).reset_index(drop=True)


def best_customers(lines, count):
    """Customers with the most revenue, returns taken off."""
    table = lines.groupby("customer_id", as_index=False).agg(
        revenue_cents=("revenue_cents", "sum"),
        visits=("sold_at", "nunique"),
        last_visit=("sold_at", "max"),
    )
    table = table[table["visits"] >= 2]
    table = table.sort_values(["revenue_cents", "customer_id"], ascending=[False, True])
    return table.head(count).reset_index(drop=True)


def slow_sellers(lines, products):
    """Products that lose money or that sell less than a tenth of their category's mean."""
    sold = lines.groupby("product_id", as_index=False).agg(
        units=("quantity", "sum"), margin_cents=("margin_cents", "sum")
    )
    table = products[["product_id", "category", "brand"]].merge(sold, on="product_id", how="left")
    table[["units", "margin_cents"]] = table[["units", "margin_cents"]].fillna(0).astype("int64")
    mean_units = table.groupby("category")["units"].transform("mean")
    slow = table[(table["units"] < 0.1 * mean_units) | (table["margin_cents"] < 0)]
    return slow.sort_values(["category", "units", "product_id"]).reset_index(drop=True)


def opening_hours(lines):
    """Share of the revenue before noon, and the three hours with the most."""
    revenue = lines.groupby("hour")["revenue_cents"].sum().sort_index()
    morning = revenue[revenue.index < 12].sum() / revenue.sum()
    return morning, revenue.nlargest(3).index.tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--out", type=Path, default=Path("report"))
    parser.add_argument("--customers", type=int, default=1000)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    sales, products, stores = load(args.data)
    lines = enrich(sales, products, stores)
    tables = {
        "stores": by_store(lines),
        "categories": by_category(lines),
        "customers": best_customers(lines, args.customers),
        "slow": slow_sellers(lines, products),
    }
    returns = lines[lines["quantity"] < 0]
    big_returns = returns.sort_values(["revenue_cents", "customer_id", "sold_at", "product_id"]).head(100)
    tables["returns"] = big_returns[["customer_id", "store_id", "product_id", "revenue_cents"]].reset_index(drop=True)
    for name, table in tables.items():
        table.to_parquet(args.out / f"{name}.parquet", index=False)

    print(f"{len(lines)} receipt lines, {len(returns)} returns")
    print(f"revenue {lines['revenue_cents'].sum() / 100:.2f}, margin {lines['margin_cents'].sum() / 100:.2f}")
    print("best stores:", ", ".join(str(number) for number in tables["stores"]["store_id"].head(5)))
    print("slow sellers:", len(tables["slow"]))
    morning, busiest = opening_hours(lines)
    print(f"share of the morning {morning:.5f}, busiest hours {busiest}")


if __name__ == "__main__":
    main()
