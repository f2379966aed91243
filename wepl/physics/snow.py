"""The snow pack of one tile (docs/theory/snow.md, eqs. 4.1 to 4.4)."""

from __future__ import annotations

from typing import NamedTuple

from wepl.physics.jit import physics


class SnowStep(NamedTuple):
    """A pack after one step: ice and liquid water (m), water that left it and sublimation in the step (m)."""

    ice: float
    liquid: float
    outflow: float
    sublimation: float


@physics
def snow_share(temperature, snow_temperature, rain_temperature):
    """Share of precipitation that falls as snow, 0 to 1; eq. (4.1).

    All snow at and below ``snow_temperature``, all rain at and above ``rain_temperature`` (degC); where the two are
    the same, snow below it.
    """
    if temperature <= snow_temperature:
        return 1.0
    if temperature >= rain_temperature:
        return 0.0
    return (rain_temperature - temperature) / (rain_temperature - snow_temperature)


@physics
def snow_step(ice, liquid, rain, snowfall, temperature, potential_sublimation, dt, factor, melt_temperature,
              liquid_share, refreezing_share):
    """Advance a pack through one step; eqs. (4.2) to (4.4).

    Parameters
    ----------
    ice, liquid : float
        Ice and liquid water of the pack, m.
    rain, snowfall : float
        Rain on the pack and snow that falls in the step, m.
    temperature : float
        Air temperature, degC.
    potential_sublimation : float
        What the air would take in the step, m; ice gives it first, then liquid water.
    dt : float
        Step, s.
    factor : float
        Degree-day factor, m K-1 s-1.
    melt_temperature : float
        T0, degC.
    liquid_share, refreezing_share : float
        Liquid water that a pack holds as a share of its ice; refreezing as a share of the degree-day factor.

    Returns
    -------
    SnowStep
        Without a pack the rain passes through.
    """
    ice = ice + snowfall
    liquid = liquid + rain
    sublimation = min(ice, potential_sublimation)
    ice -= sublimation
    warmth = temperature - melt_temperature
    if warmth > 0.0:
        melt = min(ice, factor * warmth * dt)
        ice -= melt
        liquid += melt
    else:
        frozen = min(liquid, -refreezing_share * factor * warmth * dt) if ice > 0.0 else 0.0
        ice += frozen
        liquid -= frozen
    outflow = max(0.0, liquid - liquid_share * ice)
    return SnowStep(ice, liquid - outflow, outflow, sublimation)
