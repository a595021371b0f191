#!/usr/bin/env python3
"""Records the last run of `./test`: its table in CONTRIBUTING.md, and the usual time of each step.

    scripts/test/record.py "Debian 12, 2 cores, from a fresh clone"    names the machine
"""

import json
import sys

import parts
import table

PAGE = parts.REPOSITORY / "CONTRIBUTING.md"
BEGIN, END = "<!-- table of the last measured run: scripts/test/record.py -->", "<!-- end of the table -->"


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    lines = table.FILE.read_text().splitlines()
    # Skips and their reasons depend on the machine, so only the table is recorded.
    until = next((number for number, line in enumerate(lines) if line.startswith("Skipped")), len(lines))
    shown = "\n".join(lines[:until]).strip()
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{arguments[0]}:\n\n{shown}\n\n{END}{after}")
    numbers = json.loads(table.NUMBERS.read_text())
    table.RECORDED.write_text(json.dumps(numbers, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
