"""Tables of predicted joints, beside what others have published."""

from __future__ import annotations

from typing import Any

from neurok.evaluation.tables import markdown

Row = dict[str, Any]

COLUMNS = {
    "method": ("method", "{}"),
    "objects": ("objects", "{}"),
    "moving": ("moving parts", "{}"),
    "axis": ("axis [°]", "{:.2f}"),
    "axis_right": ("axis < 10°", "{:.2f}"),
    "pivot": ("pivot (lines / diagonal)", "{:.3f}"),
    "pivot_point": ("pivot (point to axis)", "{:.3f}"),
    "precision": ("type P", "{:.2f}"),
    "recall": ("type R", "{:.2f}"),
    "precision_merged": ("turns merged: P", "{:.2f}"),
    "recall_merged": ("R", "{:.2f}"),
    "precision_macro": ("P macro", "{:.2f}"),
    "recall_macro": ("R macro", "{:.2f}"),
    "limits": ("limit IoU", "{:.2f}"),
    "tree": ("tree", "{:.2f}"),
    "calibration": ("calibration error", "{:.2f}"),
    "seconds": ("s/object", "{:.2f}"),
    "slowest": ("slowest", "{:.1f}"),
    "failed": ("failed", "{}"),
}

PUBLISHED: list[Row] = [
    {"method": "CAGE (published)", "axis": 12.83, "pivot_point": 0.11, "precision": 0.89, "recall": 0.89},
    {"method": "SINGAPO (published)", "axis": 11.20, "pivot_point": 0.12, "precision": 0.90, "recall": 0.91},
    {
        "method": "GEOPARD, no pretraining (published)",
        "axis": 10.67,
        "pivot_point": 0.06,
        "precision": 0.87,
        "recall": 0.88,
    },
    {"method": "GEOPARD (published)", "axis": 9.18, "pivot_point": 0.05, "precision": 0.92, "recall": 0.93},
]
"""As their authors report them on PartNet-Mobility, with other splits and other categories: for reading beside only."""


def joint_table(summary: list[Row]) -> str:
    """A table for each group of objects and condition."""
    parts = []
    for group, condition in dict.fromkeys((row["group"], row["condition"]) for row in summary):
        mine = [row for row in summary if (row["group"], row["condition"]) == (group, condition)]
        beside = PUBLISHED if (group, condition) == ("seen categories", "as stored") else []
        parts += [f"{group.capitalize()}, {condition}:", markdown(mine + beside, COLUMNS)]
    return "\n\n".join(parts)
