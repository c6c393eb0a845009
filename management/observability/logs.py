"""What every line of the log says besides its message."""

import logging

from audit import context


class CorrelationFilter(logging.Filter):
    """Adds the id of the request, as answers, error pages and audit entries have it, and its tenant."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add them; nothing is left out."""
        origin = context.current()
        request = getattr(record, "request", None)
        record.request_id = origin.request_id or getattr(request, "correlation_id", "")
        # Django logs the outcome of a request when its context is gone.
        record.tenant_id = origin.served_tenant_id or getattr(request, "served_tenant_id", "")
        return True
