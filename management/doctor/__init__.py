"""What ``manage.py doctor`` asks about the installation itself; apps ask about their own in ``checks.py``."""
