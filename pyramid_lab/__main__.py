"""`python -m pyramid_lab` is `pyramid-lab`."""

from pyramid_lab.cli import main

if __name__ == "__main__":
    main()
