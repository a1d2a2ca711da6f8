"""`python -m derivations`: see derivations/kernel/command/cli.py."""

from derivations.kernel.command.cli import main

if __name__ == "__main__":
    main(prog_name="python -m derivations")
