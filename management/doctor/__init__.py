"""The doctor's checks of the installation itself. Each app has its own checks in ``checks.py``."""
