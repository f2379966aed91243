"""Snow (docs/theory/snow.md): closed forms of the degree-day pack."""

from __future__ import annotations

import math

from wepl.physics.snow import SnowStep, snow_share, snow_step
from wepl.validation.columns import DAY, HOUR, MM
from wepl.validation.comparison import Case, Group, absolute, relative, table

PROCESS = "Snow"
FACTOR = 3.0 * MM / DAY  # m K-1 s-1


def pack(ice: float, liquid: float, rain: float, temperature: float, dt: float = DAY,
         liquid_share: float = 0.1) -> SnowStep:
    """One step of a pack, depths in mm."""
    return snow_step(ice * MM, liquid * MM, rain * MM, 0.0, temperature, 0.0, dt, FACTOR, 0.0, liquid_share, 0.05)


def melt_of_day(day: int) -> float:
    """Melt, mm, of a day at 5 degC of a pack of 40 mm that holds no liquid."""
    ice = 40.0
    for _ in range(day):
        step = pack(ice, 0.0, 0.0, 5.0, liquid_share=0.0)
        ice = step.ice / MM
    return step.outflow / MM


def melt_of_cycle(amplitude: float, mean: float) -> float:
    """Melt, mm, of a day of hourly temperatures Tm + A cos."""
    melted = 0.0
    for hour in range(24):
        temperature = mean + amplitude * math.cos(2.0 * math.pi * (hour + 0.5) / 24.0)
        melted += 1000.0 - pack(1000.0, 0.0, 0.0, temperature, HOUR, 1.0).ice / MM
    return melted


GROUPS = (
    Group(PROCESS, "mm", "3 mm/d/K at 5 degC: 15 mm a day from 40 mm", absolute(1e-10), melt_of_day, table(
        "melt of day {}", ((1, 15.0), (2, 15.0), (3, 10.0), (4, 0.0)))),
    Group(PROCESS, "mm", "40/15 = 2.6666667 d", absolute(1e-10),
          lambda days: pack(40.0, 0.0, 0.0, 5.0, days * DAY, 0.0).ice / MM, (
              Case("ice left after 2.6 d", (2.6,), 1.0), Case("ice left after 2.67 d", (2.67,), 0.0))),
    # The mean positive degree of a cosine, (A sin a + Tm a)/pi with cos a = -Tm/A, in hourly sums.
    Group(PROCESS, "mm", "3 mm/d/K times the mean positive degree", relative(5e-3), melt_of_cycle, (
        Case("melt of a daily cycle, -2 degC and 6 K", (6.0, -2.0), 3.0 * 1.01697953),
        Case("melt of a daily cycle, 0 degC and 6 K", (6.0, 0.0), 3.0 * 1.90985932))),
    Group(PROCESS, "1", "linear between 0 and 2 degC", absolute(1e-10), lambda t: snow_share(t, 0.0, 2.0), table(
        "share of snow at {} degC", ((-3.0, 1.0), (0.0, 1.0), (0.5, 0.75), (1.0, 0.5), (1.5, 0.25), (2.0, 0.0)))),
    Group(PROCESS, "mm", "liquid up to 0.1 of the ice", absolute(1e-10),
          lambda which: getattr(pack(20.0, 0.0, 5.0, 0.0), which) / MM, (
              Case("liquid held of 5 mm of rain on 20 mm", ("liquid",), 2.0),
              Case("outflow of 5 mm of rain on 20 mm", ("outflow",), 3.0))),
    Group(PROCESS, "mm", "0.05 of 3 mm/d/K", absolute(1e-10),
          lambda temperature: pack(30.0, 2.5, 0.0, temperature).ice / MM, (
              Case("ice after a day at -10 degC, 2.5 mm of liquid", (-10.0,), 31.5),
              Case("ice after a day at -40 degC: all is frozen", (-40.0,), 32.5))),
)
