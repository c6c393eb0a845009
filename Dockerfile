# syntax=docker/dockerfile:1
# Gatehouse in a container: no compiler, no package manager's cache, no root. What it writes goes to /var/lib/gatehouse.
# Where builds must be the same for years, name the base by its digest: docker buildx imagetools inspect python:3.13-slim-bookworm
ARG PYTHON=python:3.13-slim-bookworm

FROM ${PYTHON} AS build
WORKDIR /srv/gatehouse
COPY requirements-production.lock ./
RUN python -m venv /opt/gatehouse \
    && /opt/gatehouse/bin/python -m pip install --no-cache-dir --disable-pip-version-check --require-hashes \
        -r requirements-production.lock
# hadolint ignore=DL3008  # the compiler stays in this stage
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
# Argon2id for processors with AVX2 or AVX-512, beside the wheel. Hashing processes choose between them.
COPY requirements-argon2.lock docs/deployment/build-argon2.sh ./
RUN sh build-argon2.sh /opt/gatehouse/bin/python requirements-argon2.lock \
    && rm requirements-argon2.lock build-argon2.sh
COPY manage.py pyproject.toml ./
COPY config config
COPY database database
COPY audit audit
COPY identity identity
COPY oidc oidc
COPY management management
COPY interaction interaction
COPY templates templates
COPY locale locale
# The code of an application's quick start.
COPY docs/how-to docs/how-to
# The secrets that a development start makes up are left behind with this stage.
RUN DEBUG=true VAR_DIR=/tmp/build STATIC_DIR=/srv/gatehouse/static \
        /opt/gatehouse/bin/python manage.py collectstatic --no-input --verbosity 0 \
    && /opt/gatehouse/bin/python -m compileall -q /srv/gatehouse

FROM ${PYTHON}
LABEL org.opencontainers.image.title="Gatehouse" \
      org.opencontainers.image.description="A multi-tenant OpenID Connect identity provider" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --system --uid 10001 --home-dir /var/lib/gatehouse --create-home --shell /usr/sbin/nologin gatehouse \
    && chmod 0700 /var/lib/gatehouse
COPY --from=build /opt/gatehouse /opt/gatehouse
COPY --from=build /srv/gatehouse /srv/gatehouse
WORKDIR /srv/gatehouse
ENV PATH=/opt/gatehouse/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOST=0.0.0.0 \
    VAR_DIR=/var/lib/gatehouse \
    STATIC_DIR=/srv/gatehouse/static
USER 10001
VOLUME /var/lib/gatehouse
EXPOSE 8000
# Longer than a request may take to end (graceful_timeout).
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ.get(\"PORT\", 8000)}/healthz', timeout=2)"]
CMD ["gunicorn", "--config", "python:config.gunicorn"]
