"""Tables that lie: station records, places of stations, legends; the content of each and what is said of it."""

from __future__ import annotations

HEAD = "date,P [mm],T [degC],RH [%],wind [m s-1],sun [h]"
DAYS = [f"2010-06-{day:02d}" for day in range(1, 11)]
ROWS = [f"{day},{3.0 * (number % 4)},{20.0 + number},70.0,2.0,6.0" for number, day in enumerate(DAYS)]
GOOD = "\n".join([HEAD, *ROWS]) + "\n"
PLACES = "id,lon,lat,elevation\nweather,116.0,28.9,120.0\n"


def row(number: int, old: str, new: str) -> str:
    """The good table with a change in one row."""
    assert old in ROWS[number]
    return "\n".join([HEAD, *ROWS[:number], ROWS[number].replace(old, new, 1), *ROWS[number + 1:]]) + "\n"


def head(old: str, new: str) -> str:
    """The good table with a change in the names of its columns."""
    assert old in HEAD
    return "\n".join([HEAD.replace(old, new, 1), *ROWS]) + "\n"


def without(*columns: int) -> str:
    """The good table without some columns."""
    lines = [line.split(",") for line in GOOD.splitlines()]
    return "\n".join(",".join(cell for place, cell in enumerate(line) if place not in columns) for line in lines)


# weather.csv: text or bytes, and the message.
RECORDS: dict[str, tuple[str | bytes, str]] = {
    # structure
    "only names": (HEAD + "\n", "has no rows"),
    "one row": ("\n".join([HEAD, ROWS[0]]), "has one time only"),
    "no names": ("\n".join(ROWS), "no column|first row"),
    "numbers as names": ("1,2,3,4,5,6\n" + "\n".join(ROWS), "the first row holds numbers"),
    "a name twice": (head("T [degC]", "P [mm]"), "the column 'P .mm.' stands twice"),
    "no column of rain": (without(1), r"has no column 'P \[mm\]'"),
    "no column of time": (without(0), "has no column 'date' for time"),
    "a field more in a row": (row(4, "70.0", "70.0,1"), "row 6 has 7 fields, but there are 6 columns"),
    "a field less in a row": (row(4, ",70.0", ""), "row 6 has 5 fields, but there are 6 columns"),
    "decimal commas between commas": (GOOD.replace(".0", ",0"), "decimal commas, part the columns by semicolons"),
    "one column": ("\n".join(["date", *DAYS]), "has one column"),
    "an open quote": (row(4, "70.0", '"70.0'), "row 6|fields|no number"),
    "a web page": ("<html>\n<body>404</body>\n</html>\n", "web page"),
    "JSON": ('{"date": ["2010-06-01"],\n "P": [1.0]}\n', "no column|no number|columns"),
    "a note of how it was made": ("Station Weather\n" + GOOD, "has one column|fields"),
    "zeros in the text": (GOOD.replace("70.0", "70.0\0", 1), "no text"),

    # encoding
    "Latin-1": (head("sun [h]", "sün [h]").encode("latin-1"), r"is not text in UTF-8 \(byte"),
    "GB 18030": (head("sun [h]", "日照 [h]").encode("gb18030"), "is not text in UTF-8"),
    "UTF-16 without a mark": (GOOD.encode("utf-16-le"), "no text"),
    "half of UTF-16": (GOOD.encode("utf-16")[:-1], "is not text in UTF-16|is not text in UTF-8"),
    "UTF-32": (GOOD.encode("utf-32"), "no text|is not text"),

    # time
    "no such day": (row(3, "2010-06-04", "2010-06-31"), "row 5: '2010-06-31' is no time"),
    "words as time": (row(3, "2010-06-04", "Friday"), "row 5: 'Friday' is no time"),
    "no time": (row(3, "2010-06-04", ""), "row 5: .*(no time|missing)"),
    "day or month": (GOOD.replace("2010-06-", "06/").replace(",", "/2010,", 1).replace("\n06/", "\n06/"),
                     "time|column"),
    "time in another form in one row": (row(3, "2010-06-04", "04.06.2010"), "row 5: '04.06.2010' is no time"),
    "a year of five digits": (row(3, "2010-06-04", "12010-06-04"), "row 5: '12010-06-04' is no time"),
    "the year 1": (row(0, "2010-06-01", "0001-06-01"), "'0001-06-01'|usual step|missing"),
    "another value for one day": (row(4, "2010-06-05", "2010-06-04"), "different values for the same time"),
    "steps of a week": ("\n".join([HEAD, *(line.replace(DAYS[n], f"2010-0{6 + n // 4}-{7 * (n % 4) + 1:02d}")
                                           for n, line in enumerate(ROWS[:8]))]), "step .* must divide a day"),
    "an hour beside days": (row(5, "2010-06-06", "2010-06-06 12:00"), "is no time like the others"),
    "two time zones": ("\n".join([HEAD, *(line.replace(day, f"{day}T00:00+0{n % 2}:00")
                                          for n, (day, line) in enumerate(zip(DAYS, ROWS, strict=True)))]),
                       "two time zones"),

    # numbers
    "words as rain": (row(3, "9.0", "much"), r"column P \[mm\], row 5: 'much' is no number"),
    "a trace of rain": (row(3, "9.0", "T"), "row 5: 'T' is no number"),
    "a flag behind a number": (row(3, "9.0", "9.0*"), "row 5: '9.0\\*' is no number"),
    "a number with its unit": (row(3, "9.0", "9.0 mm"), "row 5: '9.0 mm' is no number"),
    "thousands by blanks": (row(3, "9.0", "1 009.0"), "row 5: '1 009.0' is no number"),
    "a formula": (row(3, "9.0", "=1+8"), "row 5: '=1.8' is no number"),
    "an expression": (row(3, "9.0", "__import__('os').getpid()"), "no number"),
    "negative rain": (row(3, "9.0", "-9.0"), "precipitation of station weather on 2010-06-04 is"),
    "rain of two metres a day": (row(3, "9.0", "90000"), "precipitation of station weather on 2010-06-04 is"),
    "infinite rain": (row(3, "9.0", "inf"), "precipitation of station weather on 2010-06-04 is inf"),
    "rain beyond all numbers": (row(3, "9.0", "1e400"), "precipitation of station weather on 2010-06-04 is inf"),
    "kelvin as degC": (GOOD.replace(",2", ",29"), "air_temperature of station weather on"),
    "humidity of 700": (row(3, "70.0", "700"), "relative_humidity of station weather on 2010-06-04"),
    "sun of 25 h": (row(3, "6.0", "25.0"), "sunshine_duration of station weather on 2010-06-04"),
    "negative wind": (row(3, "2.0,6.0", "-2.0,6.0"), "wind_speed of station weather on 2010-06-04"),
    "a gap in the rain": (row(3, "9.0", ""), "precipitation .*missing .*2010-06-04"),
    "a gap of -9999": (row(3, "9.0", "-9999"), "precipitation .*missing .*2010-06-04"),
    "no rain at all": (GOOD.replace("3.0", "").replace("6.0,", ",").replace("9.0,", ",").replace("0.0,", ","),
                       "missing"),

    # units in the names
    "no unit": (head("P [mm]", "P"), r"has no column 'P \[mm\]'"),
}

# stations.csv
STATIONS: dict[str, tuple[str | bytes, str]] = {
    "another name": ("id,lon,lat,elevation\nother,116,28.9,120\n", "no coordinates for the station weather"),
    "no longitude": ("id,lat,elevation\nweather,28.9,120\n", "give columns lon and lat"),
    "words as longitude": ("id,lon,lat,elevation\nweather,east,28.9,120\n", "row 2: 'east' is no number"),
    "degrees and minutes": ("id,lon,lat,elevation\nweather,116°30',28.9,120\n", "is no number"),
    "no latitude": ("id,lon,lat,elevation\nweather,116,,120\n", "no coordinates for the station weather"),
    "latitude of 95": ("id,lon,lat,elevation\nweather,116,95,120\n", "weather lies at .*give longitude"),
    "longitude of 999": ("id,lon,lat,elevation\nweather,999,28.9,120\n", "weather lies at .*give longitude"),
    "latitude before longitude": ("id,lon,lat,elevation\nweather,28.9,116,120\n", "weather lies at .*give longitude"),
    "infinite longitude": ("id,lon,lat,elevation\nweather,inf,28.9,120\n", "no coordinates for the station weather"),
    "two places": ("id,lon,lat,elevation\nweather,116,28.9,120\nweather,117,28.9,120\n", "has two places"),
    "above the sky": ("id,lon,lat,elevation\nweather,116,28.9,99999\n", "station weather lies at"),
    "infinite height": ("id,lon,lat,elevation\nweather,116,28.9,inf\n", "station weather lies at"),
    "only names": ("id,lon,lat,elevation\n", "has no rows"),
    "Latin-1": ("id,lon,lat,elevation\nGöl,116,28.9,120\n".encode("latin-1"), "is not text in UTF-8"),
}

# codes.csv, the legend of the land map with the codes 10 and 30.
LEGENDS: dict[str, tuple[str | bytes, str]] = {
    "a code less": ("code,kind\n10,grass\n", "the codes 30 are not in the legend"),
    "an unknown kind": ("code,kind\n10,grass\n30,gras\n", "unknown kind 'gras'"),
    "a code twice": ("code,kind\n10,grass\n10,shrub\n30,grass\n", "the code 10 stands twice"),
    "half a code": ("code,kind\n10.5,grass\n30,grass\n", "row 2: the code '10.5' is no whole number"),
    "no number as code": ("code,kind\nten,grass\n30,grass\n", "row 2: the code 'ten' is no whole number"),
    "an infinite code": ("code,kind\ninf,grass\n30,grass\n", "row 2: the code 'inf' is no whole number"),
    "a huge code": ("code,kind\n1e300,grass\n30,grass\n", "no whole number|the codes 10 are not"),
    "shares of more than one": ("code,kind,share\n10,grass,0.6\n10,shrub,0.6\n30,grass,1\n", "code 10 add to 1.2"),
    "a share that is none": ("code,kind,share\n10,grass,\n30,grass,1\n", "share"),
    "a negative share": ("code,kind,share\n10,grass,-1\n10,shrub,2\n30,grass,1\n", "share"),
    "one column": ("code\n10\n30\n", "has one column"),
    "columns the other way": ("kind,code\ngrass,10\nshrub,30\n", "the code 'grass' is no whole number"),
}
