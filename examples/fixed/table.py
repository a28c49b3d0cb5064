"""Predicts how long taxi trips take from a generated table; pandas prepares each batch."""

# expect: not cause=input sub=transform
# short: --epochs 2 --trips 40000
from __future__ import annotations

import argparse
import math
import time

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader

AREAS = [f"area-{number:02d}" for number in range(40)]


def make_trips(count: int, seed: int) -> pd.DataFrame:
    """Trips in a made-up town, with gaps in two columns as real tables have them."""
    chance = np.random.default_rng(seed)
    trips = pd.DataFrame(
        {
            "pickup": pd.Timestamp("2024-01-01") + pd.to_timedelta(chance.integers(0, 365 * 86400, count), unit="s"),
            "area": chance.choice(AREAS, count),
            "from_lat": chance.normal(48.1, 0.05, count),
            "from_lon": chance.normal(11.6, 0.07, count),
            "to_lat": chance.normal(48.1, 0.05, count),
            "to_lon": chance.normal(11.6, 0.07, count),
            "passengers": np.where(chance.uniform(size=count) < 0.05, np.nan, chance.integers(1, 5, count)),
        }
    )
    straight = great_circle(trips["from_lat"], trips["from_lon"], trips["to_lat"], trips["to_lon"], np)
    rush = trips["pickup"].dt.hour.isin([7, 8, 16, 17, 18])
    trips["minutes"] = 3 + 2.2 * straight * (1 + 0.5 * rush) + chance.gamma(2, 1.0, count)
    return trips


def great_circle(lat1, lon1, lat2, lon2, lib=math):
    """Kilometres between two points on the Earth, given in degrees; lib brings the functions (math, numpy)."""
    lat1, lon1, lat2, lon2 = (angle * math.pi / 180 for angle in (lat1, lon1, lat2, lon2))
    half = lib.sin((lat2 - lat1) / 2) ** 2 + lib.cos(lat1) * lib.cos(lat2) * lib.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371 * lib.arcsin(lib.sqrt(half)) if lib is np else 2 * 6371 * lib.asin(lib.sqrt(half))


def features_of(trips: pd.DataFrame) -> tuple[torch.Tensor, torch.Tensor]:
    """(features, minutes) of the rows, float32."""
    passengers = trips["passengers"].fillna(1)
    distance = great_circle(trips["from_lat"], trips["from_lon"], trips["to_lat"], trips["to_lon"], np)
    hour = trips["pickup"].dt.hour + trips["pickup"].dt.minute / 60
    weekend = trips["pickup"].dt.day_of_week >= 5
    columns = [passengers, distance, np.sin(hour * math.pi / 12), np.cos(hour * math.pi / 12), weekend]
    area = pd.get_dummies(pd.Categorical(trips["area"], categories=AREAS)).to_numpy(np.float32)
    features = np.column_stack([np.asarray(column, np.float32) for column in columns] + [area])
    return torch.from_numpy(features), torch.from_numpy(trips["minutes"].to_numpy(np.float32))


class Prepare:
    """Turns row numbers into a batch: (features, minutes)."""

    def __init__(self, trips: pd.DataFrame):
        self.features, self.minutes = features_of(trips)

    def __call__(self, rows: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        return self.features[rows], self.minutes[rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--epochs", type=int, default=4, help="passes over the table")
    parser.add_argument("--trips", type=int, default=150_000, help="rows of the table")
    parser.add_argument("--batch-size", type=int, default=512)
    arguments = parser.parse_args()

    torch.manual_seed(0)
    trips = make_trips(arguments.trips, seed=0)
    prepare = Prepare(trips)
    loader = DataLoader(range(len(trips)), batch_size=arguments.batch_size, shuffle=True, drop_last=True, collate_fn=prepare)
    width = 5 + len(AREAS)
    model = nn.Sequential(nn.Linear(width, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(arguments.epochs):
        began = time.perf_counter()
        total = 0.0
        for features, minutes in loader:
            loss = nn.functional.l1_loss(model(features).squeeze(1), minutes)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: off by {total / len(loader):.2f} minutes, {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
