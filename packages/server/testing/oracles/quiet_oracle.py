"""Quiet hours worked out a second time, by Python's zoneinfo, to compare ours with.

    quiet_oracle.py VERSION < cases > answers

The first line of the answer says which time zone database was found: {"folder": ...} for one of that VERSION among those
that Python knows (PYTHONTZPATH names others), or {"skip": why}. Cases are JSON lines [zone, start, end, milliseconds]; each answer is the first moment from then on that is
not quiet, in milliseconds, or null where these files lack the zone (some distributions leave out old names).
"""

import datetime
import functools
import importlib.util
import json
import os
import re
import sys
import zoneinfo

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MILLISECOND = datetime.timedelta(milliseconds=1)
DAY = datetime.timedelta(days=1)


def version_of(folder):
    """Distributions write it into a file of its own, or into the first line of the rules."""
    for name, pattern in (("+VERSION", r"(\d{4}[a-z]+)"), ("tzdata.zi", r"# version (\S+)")):
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found = re.match(pattern, file.readline())
        except OSError:
            continue
        if found:
            return found[1]
    return None


def folders():
    package = importlib.util.find_spec("tzdata")
    inside = [os.path.join(place, "zoneinfo") for place in package.submodule_search_locations] if package else []
    return [folder for folder in [*zoneinfo.TZPATH, *inside] if os.path.isdir(folder)]


@functools.lru_cache(maxsize=None)
def zone_of(name):
    return zoneinfo.ZoneInfo(name)


@functools.lru_cache(maxsize=None)
def time_of(text):
    return datetime.time.fromisoformat(text)


@functools.lru_cache(maxsize=1 << 16)
def instant(date, time, zone):
    """A time that comes twice means its second coming (fold=1), one that is skipped is shifted by the gap (fold=0)."""
    local = datetime.datetime.combine(date, time, zone_of(zone))
    first, second = local.replace(fold=0), local.replace(fold=1)
    twice = first.utcoffset() > second.utcoffset()
    return ((second if twice else first) - EPOCH) // MILLISECOND


def quiet_until(zone, start, end, at):
    try:
        zone_of(zone)
    except zoneinfo.ZoneInfoNotFoundError:
        return None
    if start == end:
        return at
    begins, ends = time_of(start), time_of(end)
    overnight = DAY if ends <= begins else 0 * DAY
    while True:
        today = (EPOCH + at * MILLISECOND).astimezone(zone_of(zone)).date()
        for days in range(-3, 3):
            date = today + days * DAY
            if instant(date, begins, zone) <= at < instant(date + overnight, ends, zone):
                at = instant(date + overnight, ends, zone)
                break
        else:
            return at


def main(version):
    found = {folder: version_of(folder) for folder in folders()}
    folder = next((folder for folder, its in found.items() if its == version), None)
    if folder is None:
        sys.stdin.read()  # The caller would report a closed pipe as a failure.
        seen = ", ".join(sorted({its for its in found.values() if its})) or "none"
        print(json.dumps({"skip": f"node has time zones of {version}, python finds {seen}"}))
        return
    zoneinfo.reset_tzpath([folder])
    print(json.dumps({"folder": folder}))
    for line in sys.stdin:
        print(json.dumps(quiet_until(*json.loads(line))))


main(sys.argv[1])
