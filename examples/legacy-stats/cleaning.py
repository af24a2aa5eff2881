"""Reading and mending of station files."""

import numpy as np
from numpy import NaN

BROKEN = -999.0


def read_station(path):
    """Columns of one file as a dict of arrays, broken temperatures as NaN."""
    table = np.genfromtxt(path, delimiter=",", names=True)
    hours = table["hour"].astype(np.int_)
    temperature = np.asfarray(table["temperature"])
    temperature[np.in1d(temperature, [BROKEN])] = NaN
    return {
        "hour": hours,
        "temperature": temperature,
        "humidity": table["humidity"].astype(np.float_),
        "rain": table["rain"].astype(np.float_),
    }


def fill_gaps(values):
    """Linear interpolation over NaN."""
    good = ~np.isnan(values)
    if np.alltrue(good):
        return values
    at = np.arange(values.size)
    return np.interp(at, at[good], values[good])
