"""A user's server at a school's hub: JupyterHub's own, started sooner."""

import runpy

from pyramid_lab.cli.jupyter import start_sooner

if __name__ == "__main__":
    start_sooner()
    runpy.run_module("jupyterhub.singleuser", run_name="__main__")
