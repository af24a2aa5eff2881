"""Results as a table for terminals and as Markdown."""

from __future__ import annotations

from typing import Any

HEADERS = (
    "item",
    "outcome",
    "speed-up",
    "CPU → GPU, s",
    "kernels, busy s",
    "MB to, from",
    "fallbacks",
    "limited by, reasons",
    "referee",
    "device hidden",
    "assessment",
)


def _figure(value: Any, digits: int = 2) -> str:
    return f"{value:.{digits}f}" if isinstance(value, int | float) else "–"


def _row(entry: dict[str, Any]) -> list[str]:
    timing, gpu = entry.get("timing") or {}, entry.get("gpu") or {}
    speed = "–"
    if isinstance(timing.get("speedup"), int | float):
        bound = "≥ " if timing.get("lower_bound") else ""
        low, high = _figure(timing.get("speedup_low")), _figure(timing.get("speedup_high"))
        speed = f"{bound}{_figure(timing['speedup'])} ({low} to {high})"
    sizes = [gpu.get(key) for key in ("bytes_to_device", "bytes_to_host")]
    moved = ", ".join(_figure(size / 1e6 if isinstance(size, int | float) else None, 1) for size in sizes)
    calls = sum(entry.get("calls") or 0 for entry in gpu.get("fallbacks") or [] if isinstance(entry, dict))
    return [
        entry["item"],
        entry["outcome"],
        speed,
        f"{_figure(timing.get('before_seconds'))} → {_figure(timing.get('after_seconds'))}" if timing else "–",
        f"{gpu.get('kernels', '–')}, {_figure(gpu.get('busy_seconds'), 3)}" if gpu else "–",
        moved if gpu else "–",
        str(calls) if gpu else "–",
        ", ".join([*(entry.get("limited_by") or []), *(entry.get("codes") or [])[:4]]) or "–",
        (entry.get("referee") or {}).get("verdict", "–"),
        ", ".join(hidden["outcome"] for hidden in (entry.get("hidden") or {}).values()) or "–",
        entry.get("assessment", "–"),
    ]


def text(entries: list[dict[str, Any]]) -> str:
    """Columns as wide as they must be."""
    rows = [list(HEADERS), *(_row(entry) for entry in entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADERS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def markdown(environment: dict[str, Any], entries: list[dict[str, Any]], command: str) -> str:
    """A page with the machine, the table, what is wrong, and how to make it again."""
    gpus = ", ".join(f"{gpu['name']} ({gpu['memory']}, driver {gpu['driver']})" for gpu in environment["gpus"])
    versions = ", ".join(f"{name} {version}" for name, version in environment["versions"].items())
    lines = [
        "# Outcomes on a GPU machine" if gpus else "# Outcomes on a machine without a GPU",
        "",
        "Written by `scripts/gpu-check`; `README.md` beside this file says what the columns mean.",
        "",
        "| | |",
        "|---|---|",
        f"| GPU | {gpus or 'none'} |",
        f"| CPU | {environment['cpu']}, {environment['cores']} cores |",
        f"| versions | {versions} |",
        f"| gpuport | {environment['gpuport']}, SHA-256 `{environment['gpuport_sha256'][:16]}…` |",
        f"| made by | `{command}` |",
        "",
        "| " + " | ".join(HEADERS) + " |",
        "|" + "---|" * len(HEADERS),
        *("| " + " | ".join(cell.replace("|", "\\|") for cell in _row(entry)) + " |" for entry in entries),
        "",
        totals(entries),
        "",
        *_details(entries),
    ]
    return "\n".join(lines).rstrip() + "\n"


def totals(entries: list[dict[str, Any]]) -> str:
    """How many of each assessment, and the line that matters most."""
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry["assessment"]] = counts.get(entry["assessment"], 0) + 1
    accepted = [entry for entry in entries if entry["outcome"] in ("accepted", "partial")]
    false = [entry for entry in accepted if (entry.get("referee") or {}).get("verdict") != "agree"]
    summary = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    referee = f"{len(accepted)} accepted, {len(false)} of them not confirmed by the referee"
    return f"{len(entries)} items: {summary}. {referee}."


def _details(entries: list[dict[str, Any]]) -> list[str]:
    lines = []
    for entry in entries:
        if entry.get("problems"):
            lines.append(f"* **{entry['item']}**: {'; '.join(entry['problems'])}.")
        elif entry["assessment"] == "missed" or entry["outcome"] == "skipped":
            reason = next(iter(entry.get("messages") or []), "") or ", ".join(entry.get("codes") or [])
            lines.append(f"* {entry['item']}: {entry['outcome']}{f' ({reason})' if reason else ''}.")
    return lines
