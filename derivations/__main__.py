"""`python -m derivations`: see derivations/kernel/cli.py."""

from derivations.kernel.cli import main

if __name__ == "__main__":
    main(prog_name="python -m derivations")
