"""gunicorn's settings, used by every way of starting Gatehouse."""

import gc
import os
import shutil
from typing import Any

from django.conf import settings
from gunicorn.glogging import Logger

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

bind = f"{settings.HOST}:{settings.PORT}"
workers = settings.WEB_CONCURRENCY
threads = settings.THREADS
worker_class = "config.worker.Worker"
wsgi_app = "config.wsgi:application"
# A header must never become SCRIPT_NAME or PATH_INFO: they would pick the tenant.
forwarder_headers = ""
# Nothing is believed of a proxy at this level: BASE_URL says scheme and host.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
limit_request_line = 8_190
limit_request_fields = 64
limit_request_field_size = 8_190
# What is written is for this user alone: the database, its log, keys, the outbox.
umask = 0o077
keepalive = 15
graceful_timeout = 30
timeout = 60
# Loaded once and shared by fork: less memory, faster start.
preload_app = True
worker_tmp_dir = None
accesslog = None
errorlog = "-"
logconfig_dict = settings.LOGGING
# Its socket would lie in the home directory, one for all gunicorns of a user.
control_socket_disable = True


class ErrorsOnly(Logger):  # type: ignore[misc]  # gunicorn has no types
    """Gathers nothing for an access log that nobody writes: with ``logconfig_dict`` each request would."""

    @property
    def access_log_enabled(self) -> bool:
        """False: proxies write one, and audit entries say what happened."""
        return False


logger_class = ErrorsOnly

# Where the workers of this server keep their counts together; the library reads it when it is loaded.
_METRICS = settings.VAR / f"metrics-{settings.PORT}"
if settings.METRICS_TOKEN:
    shutil.rmtree(_METRICS, ignore_errors=True)
    _METRICS.mkdir(parents=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_METRICS)


def when_ready(server: object) -> None:
    """Set aside what is loaded: it lasts, and looking through it for garbage would stop workers for 0.1 s."""
    gc.collect()
    gc.freeze()


def child_exit(server: object, worker: Any) -> None:
    """Drop what only a living worker counts."""
    if settings.METRICS_TOKEN:
        from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415 - as below

        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def post_worker_init(worker: object) -> None:
    """Let the worker send messages and spans: after the fork, since threads do not survive one."""
    from interaction.verification import outgoing  # noqa: PLC0415 - apps are not loaded when this file is
    from management.observability import refusals, tracing  # noqa: PLC0415
    from management.upgrades import presence  # noqa: PLC0415

    outgoing.start()
    tracing.start()
    presence.start()
    refusals.start()


def worker_exit(server: object, worker: object) -> None:
    """Let it finish the messages that it is sending, and write down what it counted."""
    from django.apps import apps  # noqa: PLC0415 - as above

    if not apps.ready:  # the worker could not start, and why is what has to be seen
        return
    from interaction.verification import outgoing  # noqa: PLC0415 - as above
    from management.observability import refusals  # noqa: PLC0415

    outgoing.stop()
    refusals.stop()


def on_exit(server: object) -> None:
    """Say that this node is gone, after its last worker."""
    from django.apps import apps  # noqa: PLC0415 - as above

    if not apps.ready:
        return
    from management.upgrades import presence  # noqa: PLC0415 - as above

    presence.leave()
