"""The fields that every log line has in addition to its message."""

import logging

from audit import context


class CorrelationFilter(logging.Filter):
    """Adds the tenant and the id of the request, which responses, error pages and audit entries have too."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the fields, and return true to keep the record."""
        origin = context.current()
        request = getattr(record, "request", None)
        record.request_id = origin.request_id or getattr(request, "correlation_id", "")
        # Django logs the outcome of a request after its context has ended.
        record.tenant_id = origin.served_tenant_id or getattr(request, "served_tenant_id", "")
        return True
