"""Which customers will leave? A forest's forecast, customer segments, and what a customer's neighbours did."""

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def load(path):
    """Measures and outcome of all customers."""
    with np.load(path) as table:
        return table["X"], table["left"]


def forecast(X_train, y_train, X_test, y_test, trees):
    """Quality of a random forest on customers that it hasn't seen."""
    model = make_pipeline(
        StandardScaler(),
        RandomForestClassifier(n_estimators=trees, max_depth=14, min_samples_leaf=10, n_jobs=-1, random_state=0),
    )
    model.fit(X_train, y_train)
    probability = model.predict_proba(X_test)[:, 1]
    return {
        "accuracy": float(accuracy_score(y_test, probability > 0.5)),
        "auc": float(roc_auc_score(y_test, probability)),
        "log_loss": float(log_loss(y_test, probability)),
    }


def segments(scaled, y, largest):
    """Customer segments: how much of the variance each number of them explains, and how the best ones behave."""
    total = float(((scaled - scaled.mean(axis=0)) ** 2).sum())
    explained = {}
    for k in range(2, largest + 1):
        model = KMeans(n_clusters=k, n_init=10, random_state=0).fit(scaled)
        explained[k] = 1.0 - float(model.inertia_) / total
    gains = {k: explained[k] - explained[k - 1] for k in range(3, largest + 1)}
    best = max((k for k in gains if gains[k] > 0.02), default=2)
    labels = KMeans(n_clusters=best, n_init=10, random_state=0).fit_predict(scaled)
    sizes = np.bincount(labels, minlength=best) / len(labels)
    rates = np.bincount(labels, weights=y, minlength=best) / np.bincount(labels, minlength=best)
    order = np.argsort(sizes)[::-1]
    return {
        "explained": {str(k): round(share, 4) for k, share in explained.items()},
        "number": best,
        "sizes": [round(float(share), 4) for share in sizes[order]],
        "leaving": [round(float(rate), 4) for rate in rates[order]],
    }


def neighbourhood(scaled, y, count):
    """How well the share of leavers among the most similar other customers tells who leaves."""
    search = NearestNeighbors(n_neighbors=count + 1).fit(scaled)
    distances, numbers = search.kneighbors(scaled)
    share = y[numbers[:, 1:]].mean(axis=1)
    return {
        "auc": float(roc_auc_score(y, share)),
        "mean_distance": float(distances[:, -1].mean()),
        "unanimous": float(((share == 0.0) | (share == 1.0)).mean()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("customers", type=Path)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--segments", type=int, default=9, help="largest number of segments to try")
    parser.add_argument("--neighbours", type=int, default=25)
    args = parser.parse_args()

    X, y = load(args.customers)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    print(f"{len(X)} customers, {X.shape[1]} measures, {y.mean():.3f} left")

    forest = forecast(X_train, y_train, X_test, y_test, args.trees)
    print(f"forest: accuracy {forest['accuracy']:.3f}, AUC {forest['auc']:.3f}, log loss {forest['log_loss']:.3f}")

    scaled = StandardScaler().fit_transform(X)
    groups = segments(scaled, y, args.segments)
    print(f"{groups['number']} segments explain {groups['explained'][str(groups['number'])]:.3f} of the variance")
    for size, rate in zip(groups["sizes"], groups["leaving"]):
        print(f"  share {size:.3f}, leaving {rate:.3f}")

    near = neighbourhood(scaled, y, args.neighbours)
    print(f"neighbours: AUC {near['auc']:.3f}, mean distance {near['mean_distance']:.3f}")

    metrics = {"forest": forest, "segments": groups, "neighbours": near}
    Path("metrics.json").write_text(json.dumps(metrics, indent=2) + "\n")


if __name__ == "__main__":
    main()
