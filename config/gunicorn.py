"""The settings of gunicorn."""

import gc
import os
import shutil
from typing import Any

from django.conf import settings
from gunicorn.glogging import Logger

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Loading the application creates almost only objects that stay. Collecting garbage meanwhile takes a fifth of
# the start. ``when_ready`` switches it on again.
gc.disable()

bind = f"{settings.HOST}:{settings.PORT}"
workers = settings.WEB_CONCURRENCY
threads = settings.THREADS
worker_class = "config.server.worker.Worker"
asgi_loop = "uvloop"
wsgi_app = "config.wsgi:application"
# No header may set SCRIPT_NAME or PATH_INFO, because they select the tenant.
forwarder_headers = ""
# gunicorn trusts no proxy: scheme and host come from BASE_URL.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
limit_request_line = 8_190
limit_request_fields = 64
# Fits ``Authorization`` with the longest access token (see ``oidc.keys.jws``).
limit_request_field_size = 40_960
# Only this user may read the files that the server creates: the database, keys, the outbox.
umask = 0o077
keepalive = 15
graceful_timeout = 30
timeout = 60
# The application is loaded once, before the fork: workers share its memory and start faster.
preload_app = True
worker_tmp_dir = None
accesslog = None
errorlog = "-"
logconfig_dict = settings.LOGGING
# The control socket would be in the home directory, and all gunicorns of a user would share it.
control_socket_disable = True


class ErrorsOnly(Logger):  # type: ignore[misc]  # gunicorn has no types
    """A logger without an access log. With ``logconfig_dict``, gunicorn would prepare a line per request."""

    @property
    def access_log_enabled(self) -> bool:
        """False, because proxies write access logs, and the audit log has the events."""
        return False


logger_class = ErrorsOnly

# The directory of the workers' metrics. prometheus_client reads the variable when it is imported.
_METRICS = settings.VAR / f"metrics-{settings.PORT}"
if settings.METRICS_TOKEN:
    shutil.rmtree(_METRICS, ignore_errors=True)
    _METRICS.mkdir(parents=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_METRICS)


def when_ready(server: object) -> None:
    """Start garbage collection. Loaded objects are exempt: searching them would pause workers for 0.1 s."""
    from config import errors  # noqa: PLC0415 - this file is loaded before the apps

    errors.load()
    gc.freeze()  # also keeps a few thousand unreachable objects, because finding them takes longer
    gc.enable()


def child_exit(server: object, worker: Any) -> None:
    """Remove those metrics of an ended worker that apply only to live workers."""
    if settings.METRICS_TOKEN:
        from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415 - see above

        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def post_worker_init(worker: object) -> None:
    """Start the worker's threads. This happens after the fork, because threads do not survive a fork."""
    from interaction.verification import outgoing  # noqa: PLC0415 - this file is loaded before the apps
    from management.observability import refusals, tracing  # noqa: PLC0415
    from management.upgrades import presence  # noqa: PLC0415

    outgoing.start()
    tracing.start()
    presence.start()
    refusals.start()


def worker_exit(server: object, worker: object) -> None:
    """Finish the messages that the worker is sending, and record the refusals that it counted."""
    from django.apps import apps  # noqa: PLC0415 - as above

    if not apps.ready:  # the worker failed to start, and another error would hide the reason
        return
    from interaction.verification import outgoing  # noqa: PLC0415 - as above
    from management.observability import refusals  # noqa: PLC0415

    outgoing.stop()
    refusals.stop()


def on_exit(server: object) -> None:
    """Delete this node's row from the serving nodes, after the last worker has ended."""
    from django.apps import apps  # noqa: PLC0415 - as above

    if not apps.ready:
        return
    from management.upgrades import presence  # noqa: PLC0415 - as above

    presence.leave()
