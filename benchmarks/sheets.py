"""How fast the sheets are: ``python benchmarks/sheets.py [--long]``.

Each case runs in a fresh process, so every figure is from a cold start. CPU seconds are those of the process and its
children, and are given as a ratio to a reference loop timed in the same run: shuffling 20,000 packs.

* a class pack of 30 deals with keys: under 2 CPU s is the aim;
* packs of 250 and (``--long``) 1,000 deals with keys: the cost of a deal and the peak of memory should stay level.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

from pyramid_lab.core import Deal

CASE = """
import sys, tempfile
from pathlib import Path
from pyramid_lab.core import Deal
from pyramid_lab.core.position import Move
from pyramid_lab.sheets import PackDeal, class_pack
count = int(sys.argv[1])
# One deal that can be won, again and again: what is printed costs the same, and no search is timed.
deal = Deal.from_seed(3)
line = tuple(Move.parse(move) for move in sys.argv[2].split())
with tempfile.TemporaryDirectory() as folder:
    class_pack([PackDeal(deal, line, True)] * count, "three-pile").save(Path(folder) / "pack.pdf")
"""


def reference() -> float:
    """CPU seconds of the reference loop."""
    before = time.process_time()
    for seed in range(20_000):
        Deal.from_seed(seed)
    return time.process_time() - before


def case(count: int, line: str) -> tuple[float, float]:
    """CPU seconds and the peak memory (MB, of the largest process) of a pack made in a process of its own."""
    child = subprocess.Popen([sys.executable, "-c", CASE, str(count), line])
    _, status, used = os.wait4(child.pid, 0)
    assert status == 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="1,000 deals too")
    from pyramid_lab.core import rule_set
    from pyramid_lab.sheets.deals import solved
    from pyramid_lab.solver import Winnable

    answer = solved(Deal.from_seed(3), rule_set("three-pile"))
    assert isinstance(answer, Winnable)
    line = " ".join(move.text for move in answer.line)
    unit = reference()
    print(f"reference: {unit:.2f} CPU s")
    print("deals  CPU s   to reference   ms a deal   peak MB")
    for count in (30, 250, 1000) if parser.parse_args().long else (30, 250):
        seconds, memory = case(count, line)
        print(f"{count:5}  {seconds:5.2f}   {seconds / unit:12.2f}   {1000 * seconds / count:9.1f}   {memory:7.0f}")


if __name__ == "__main__":
    main()
